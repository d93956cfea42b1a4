"""Context of a session: its brief and suggestions, above a threshold."""
