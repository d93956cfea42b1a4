"""Evidence about folders, sessions and processes on this machine."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
