"""`python -m topgap.cli`."""

from topgap.cli.main import main

main()
