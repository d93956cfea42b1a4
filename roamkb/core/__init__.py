"""Values and decisions: no disk, no clock, no environment."""
