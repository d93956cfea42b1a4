"""Interfaces for callers: each parses, calls and renders; no meaning lives here.

No meaning lives here.
"""

from roamkb import lazy_submodules

lazy_submodules(__name__)
