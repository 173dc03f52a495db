"""The paper's three tables, measured again: `python -m benchmarks.paper`."""
