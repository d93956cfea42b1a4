"""Notes on the disk: walk, lookup, conflict copies and trash."""
