"""Records of what was injected into sessions."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
