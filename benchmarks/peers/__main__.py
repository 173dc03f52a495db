"""See `command`, which does it."""

import sys
from pathlib import Path

# What all benchmarks share stands one folder up from where Python looks.
sys.path[0] = str(Path(__file__).parents[1])

from peers.command import main  # noqa: E402

if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
