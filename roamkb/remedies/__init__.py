"""Errors, the episodes that fixed them, and the effectiveness of remedies."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
