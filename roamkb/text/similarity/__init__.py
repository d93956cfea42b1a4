"""Comparison of texts: duplicates, contradictions and containment."""
