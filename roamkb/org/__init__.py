"""Org-roam notes: reading them as real org-roam does, and writing them so that it reads them as meant."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
