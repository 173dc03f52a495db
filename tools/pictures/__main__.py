"""Makes the pictures of the pages: `python -m tools.pictures [drawings] [terminal] [reports]`."""

import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def _draw() -> None:
    from tools.pictures.drawings import draw

    draw(DOCS / "pictures")


def _show_terminal() -> None:
    from tools.pictures.terminal import draw_terminal

    (DOCS / "pictures" / "terminal.svg").write_text(draw_terminal(), encoding="utf-8")


def _show_reports() -> None:
    from tools.pictures.reports import take_pictures

    take_pictures(DOCS / "gallery")


KINDS = {"drawings": _draw, "terminal": _show_terminal, "reports": _show_reports}


def main() -> int:
    """Make the kinds that are named, or all."""
    kinds = sys.argv[1:] or [*KINDS]
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        print(f"pictures: {unknown[0]} is none of {', '.join(KINDS)}.", file=sys.stderr)
        return 2
    for kind in kinds:
        try:
            KINDS[kind]()
        except (OSError, RuntimeError) as error:
            print(f"pictures: {kind}: {error}", file=sys.stderr)
            return 1
        print(f"pictures: {kind}: made")
    return 0


if __name__ == "__main__":
    sys.exit(main())
