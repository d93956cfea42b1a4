"""Trust in logs that came with their project: by digest, by key, and line by line."""
