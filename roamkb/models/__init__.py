"""Language models: their names and their answers."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
