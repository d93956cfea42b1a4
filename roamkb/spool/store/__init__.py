"""Waiting calls on the disk."""
