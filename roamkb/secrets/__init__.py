"""Credentials in text: found, named, never shown."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
