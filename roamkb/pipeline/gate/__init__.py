"""The gate that a learning passes: evidence, judges, hazards and noise."""
