"""Run the command."""

import sys

from benchmarks.paper.command import main

if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Interrupted; nothing was written.")
