"""Install, uninstall and doctor."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
