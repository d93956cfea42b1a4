"""Curation of a log: audit, refine, curate and review."""
