"""Errors, the episodes that fixed them, and the effectiveness of remedies."""
