"""The command `topgap audit`."""
