"""Lines proposed for files like CLAUDE.md: proposal, approval and rollback."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
