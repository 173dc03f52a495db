"""Probabilities with safe bounds: binomial tails, exact event probabilities, rounding."""
