"""The accuracy of lists and counts at equal ε, beside other libraries."""
