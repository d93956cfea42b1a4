"""Permission to write to the knowledge base: the rule file, the judgement and human consent."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
