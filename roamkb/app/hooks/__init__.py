"""A harness's session, wired event by event."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
