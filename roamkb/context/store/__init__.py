"""What was injected into which session."""
