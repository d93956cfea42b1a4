"""Notes as values: their file names and passages."""
