"""The log of one project, wired subject by subject."""
