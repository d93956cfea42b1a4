"""Calls that wait for a hook outside of their sandbox."""
