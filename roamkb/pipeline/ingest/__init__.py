"""Import of other tools' memory into the log."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
