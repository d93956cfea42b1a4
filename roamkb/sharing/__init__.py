"""Templates, bundles and snapshots of what a project learned."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
