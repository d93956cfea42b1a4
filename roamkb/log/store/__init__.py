"""A project's log on the disk, its index, caches, receipts and observations."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
