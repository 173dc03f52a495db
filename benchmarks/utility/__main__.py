"""Run the command."""

import sys

from benchmarks.utility.command import main

if __name__ == "__main__":
    sys.exit(main())
