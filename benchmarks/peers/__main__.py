"""Run the command."""

import sys

from benchmarks.peers.command import main

if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
