"""Prompts of `roamkb/data`, by version and digest."""
