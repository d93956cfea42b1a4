"""The gate for learnings: evidence, judges, hazards and noise."""
