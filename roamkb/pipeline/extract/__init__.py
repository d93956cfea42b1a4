"""Statements found in a session: hook payloads, transcripts, markers and model extraction."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
