"""Templates, bundles and snapshots of what a project learned."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
