"""Language models: their names and their answers."""
