"""A project's log: learnings, how they are written, found, pinned and explained."""
