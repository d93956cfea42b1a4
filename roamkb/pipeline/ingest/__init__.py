"""Other tools' memory, taken into the log."""
