"""What an audit found: values, verdicts in words, tables and plots."""
