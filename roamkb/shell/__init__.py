"""Shell text as simple commands, and the effect of programs on their arguments."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
