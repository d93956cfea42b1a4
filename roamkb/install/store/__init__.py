"""Installed files, links and facts about this machine."""
