"""Org-roam notes: what real org-roam reads in a file, and how to write one that it reads as meant."""
