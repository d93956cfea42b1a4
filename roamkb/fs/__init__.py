"""Files, locks, git's own files and places of this machine, opened for every package."""
