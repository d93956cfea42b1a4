"""A project's log on the disk, its index, caches, receipts and observations."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
