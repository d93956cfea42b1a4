"""Import of other tools' memory into the log."""
