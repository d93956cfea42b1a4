"""Transcripts, other tools' files and a project's references on the disk."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
