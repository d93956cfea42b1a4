"""Context of a session: its brief and suggestions, above a threshold."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
