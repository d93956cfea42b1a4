"""Evidence about folders, sessions and processes on this machine."""
