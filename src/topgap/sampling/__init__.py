"""Exact samplers in integers and fractions of any size, and the bits they draw. Internal."""
