"""Tasks, the learnings relevant to a task, and whether shown learnings helped."""

from roamkb import lazy_submodules

lazy_submodules(__name__)
