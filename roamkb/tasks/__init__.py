"""Tasks, the learnings relevant to a task, and whether shown learnings helped."""

from roamkb import lazy_submodules

__getattr__ = lazy_submodules(__name__)
