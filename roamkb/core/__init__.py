"""Values and errors that every package shares; no disk, clock or environment."""
