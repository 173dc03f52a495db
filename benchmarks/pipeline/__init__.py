"""What surrounds a release: counting, streams, Spark and the ledger."""
