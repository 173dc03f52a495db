"""What all readers of data share: paths, names of columns, progress. Internal."""
