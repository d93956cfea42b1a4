"""A harness's session, wired event by event."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
