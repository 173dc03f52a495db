"""The kernel's speed, and what its running time reveals."""
