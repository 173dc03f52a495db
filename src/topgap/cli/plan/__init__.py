"""The command `topgap plan`."""
