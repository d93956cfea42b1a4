"""Language models: how each is named, and what it answers."""
