"""The gate for learnings: evidence, judges, hazards and noise."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
