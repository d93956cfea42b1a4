"""Tasks, what is relevant to one, and whether what was shown helped."""
