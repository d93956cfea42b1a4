"""The SQLite index over notes and logs: derived, refreshed before each query, disposable."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
