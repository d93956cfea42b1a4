"""Credentials in text: found, named, never shown."""
