"""Installed harnesses of this machine."""
