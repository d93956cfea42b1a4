"""Clients that ask a language model one question, by a program or over HTTP."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
