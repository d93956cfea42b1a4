"""Words, stems and languages of texts."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
