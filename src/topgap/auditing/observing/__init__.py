"""From calls of an audited function to counts of what an observer can see."""
