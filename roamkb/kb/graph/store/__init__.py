"""Drawn graphs that are kept."""
