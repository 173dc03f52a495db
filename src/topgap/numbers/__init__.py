"""Exact numbers in and out: `parse` reads what a user hands in, `format` writes it. Internal."""
