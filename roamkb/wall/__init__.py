"""The wall: files that the kernel keeps a command and its children from writing (design D23)."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
