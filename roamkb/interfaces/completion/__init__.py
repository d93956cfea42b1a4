"""Completion of the command line in bash, zsh and fish."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
