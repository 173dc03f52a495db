"""The command `topgap demo`."""
