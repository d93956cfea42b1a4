"""Sentence models that rank by meaning, where they are asked for."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
