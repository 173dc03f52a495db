"""What an audit runs: mechanisms of this package, and mechanisms that are broken on purpose."""
