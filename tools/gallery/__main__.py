"""Writes the gallery: `python -m tools.gallery [folder of the public files]`."""

import sys
from pathlib import Path

from tools.gallery.pages import ROOT, write_gallery
from topgap.errors import TopgapError

SHARED = ROOT.parent / "shared" / "data"


def main() -> int:
    """Write all reports and their page, or say which file is not there."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else SHARED
    try:
        written = write_gallery(folder)
    except (OSError, TopgapError) as error:
        print(f"gallery: {error} Name the folder with the public files.", file=sys.stderr)
        return 1
    for path in written:
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")
    print("gallery: written; python -m tools.pictures reports takes their pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
