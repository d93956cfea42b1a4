"""Lines proposed for files like CLAUDE.md: proposal, approval and rollback."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
