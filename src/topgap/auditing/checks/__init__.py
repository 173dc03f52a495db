"""What is decided from the counts: whether the exact law holds, and a lower bound of ε."""
