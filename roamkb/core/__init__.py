"""Values that every package shares, and what can go wrong; no disk, clock or environment."""
