"""The command `topgap`."""
