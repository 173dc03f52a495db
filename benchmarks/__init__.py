"""Measurements of speed, memory and accuracy; run each by `python -m` from the repository root."""
