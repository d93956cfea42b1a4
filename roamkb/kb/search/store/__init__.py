"""Grep over the notes' files."""
