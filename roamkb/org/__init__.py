"""Org-roam notes: reading them as real org-roam does, and writing them so that it reads them as meant."""
