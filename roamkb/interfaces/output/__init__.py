"""Results as text and as JSON, subject by subject."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
