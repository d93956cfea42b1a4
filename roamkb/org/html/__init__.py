"""Notes as HTML: an org text's elements and objects, with everything unknown as text."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
