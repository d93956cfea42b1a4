"""Interfaces for callers: each parses, calls and renders; no meaning lives here.

No meaning lives here.
"""
