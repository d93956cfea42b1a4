"""Doors: parse, call, render. No meaning lives here."""
