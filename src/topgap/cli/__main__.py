"""`python -m topgap.cli`."""

from topgap.cli import main

main()
