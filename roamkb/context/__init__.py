"""What a session is told: the brief and suggestions, above a threshold."""
