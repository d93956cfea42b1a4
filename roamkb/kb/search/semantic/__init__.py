"""Sentence models that rank by meaning, where they are asked for."""
