"""The journal of the notes' folder: its state at each moment, and restoration."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
