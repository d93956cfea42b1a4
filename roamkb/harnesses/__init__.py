"""Agents' harnesses: their settings, hooks, sandboxes and transcripts."""
