"""Errors, the episodes that fixed them, and which remedy works best."""
