"""Install, uninstall and doctor."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
