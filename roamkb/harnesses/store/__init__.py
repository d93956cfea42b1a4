"""Harnesses that are found on this machine."""
