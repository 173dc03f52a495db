"""The file of a ledger on disk: its tables, its transactions, and the access to it."""
