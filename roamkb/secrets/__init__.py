"""Credentials in text: found, named, never shown."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
