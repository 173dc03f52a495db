"""Hold the proofs in docs/proofs against the code: `python -m tools.proofs`."""
