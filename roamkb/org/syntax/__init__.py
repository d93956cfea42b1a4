"""Org's syntax, element by element, as Emacs reads it."""
