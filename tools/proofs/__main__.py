"""Run the command."""

import sys

from tools.proofs.command import main

if __name__ == "__main__":
    sys.exit(main())
