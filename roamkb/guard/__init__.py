"""Judgement of tool calls before they run: commands that would change protected files."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
