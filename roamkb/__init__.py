"""A knowledge base that coding agents share with their human, kept as plain org-roam files."""

__version__ = "0.1.0"
