"""The knowledge base's verbs: show, write, supersede, trash and the others."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
