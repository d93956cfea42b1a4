"""Text to values and back: no disk."""
