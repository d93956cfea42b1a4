"""Files, locks, git's own files and places of this machine, opened for every package."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
