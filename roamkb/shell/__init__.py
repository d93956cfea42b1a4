"""Shell text as simple commands, and the effect of programs on their arguments."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
