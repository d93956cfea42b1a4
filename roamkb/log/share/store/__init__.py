"""The shared log's service, and what this machine keeps of it."""
