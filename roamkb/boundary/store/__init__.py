"""Evidence about folders, sessions and processes on this machine."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
