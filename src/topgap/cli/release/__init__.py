"""The command `topgap release`."""
