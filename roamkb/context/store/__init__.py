"""Records of what was injected into sessions."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
