"""From observations to verified knowledge: observe, consolidate, verify, promote."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
