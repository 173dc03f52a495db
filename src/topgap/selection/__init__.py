"""Everything that sees answers: from answers to a release."""
