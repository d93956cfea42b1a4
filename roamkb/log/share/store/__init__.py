"""The shared log's service, and what this machine keeps of it."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
