"""Agents' harnesses: their settings, hooks, sandboxes and transcripts."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
