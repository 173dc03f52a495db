"""What an audit looks at: pairs of neighbouring data sets, and the default pairs."""
