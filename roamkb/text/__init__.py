"""Words, stems and languages of texts."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
