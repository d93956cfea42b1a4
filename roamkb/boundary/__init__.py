"""Permission to write to the knowledge base: the rule file, the judgement and human consent."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
