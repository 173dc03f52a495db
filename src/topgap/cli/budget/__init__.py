"""The command `topgap budget`."""
