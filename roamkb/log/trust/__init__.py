"""Trust in logs that came with their project: by digest, by key, and line by line."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
