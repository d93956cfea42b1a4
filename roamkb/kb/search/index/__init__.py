"""The SQLite index over notes and logs: derived, refreshed before each query, disposable."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
