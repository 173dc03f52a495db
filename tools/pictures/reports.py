"""Takes pictures of the reports in the gallery, light and dark, with Chromium."""

import base64
import io
from pathlib import Path

from PIL import Image

from tools.chromium import find_programs, open_chromium, show

WIDTH, HEIGHT, SCALE = 960, 1080, 0.75
"""The window of a report, and the size of the picture of it."""

END = "return document.querySelector('table')?.getBoundingClientRect().bottom ?? 0"
"""Where a picture ends: below the first list, so that no row is cut."""

COLOURS = 64  # which is enough for text and bars, and makes a small file


def take_pictures(folder: Path) -> list[Path]:
    """Write NAME-light.png and NAME-dark.png beside each NAME.html of a folder.

    Raises:
        FileNotFoundError: There is no Chromium here, or no report.
    """
    programs = {name: path for name, path in find_programs().items() if path is not None}
    if len(programs) < len(find_programs()):
        raise FileNotFoundError("Pictures of reports need chromium and chromedriver.")
    pages = sorted(folder.glob("*.html"))
    if not pages:
        raise FileNotFoundError(f"{folder} has no report: run python -m tools.gallery first.")
    written = []
    with open_chromium(programs) as driver:
        for page in pages:
            for scheme in ("light", "dark"):
                show(driver, page.resolve().as_uri(), width=WIDTH, height=HEIGHT, scheme=scheme)
                height = (driver.execute_script(END) or HEIGHT) + 32
                clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": SCALE}
                shot = driver.execute_cdp_cmd(
                    "Page.captureScreenshot",
                    {"format": "png", "clip": clip, "captureBeyondViewport": True},
                )
                path = page.with_name(f"{page.stem}-{scheme}.png")
                _save(base64.b64decode(shot["data"]), path)
                written.append(path)
    return written


def _save(picture: bytes, path: Path) -> None:
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
