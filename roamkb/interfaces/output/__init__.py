"""Results as text and as JSON, subject by subject."""
