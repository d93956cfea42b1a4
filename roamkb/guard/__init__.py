"""Advice before a tool call: which commands would change what is protected."""
