"""From observations to verified knowledge: observe, consolidate, verify, promote."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
