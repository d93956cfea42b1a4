"""Snapshot archives on the disk."""
