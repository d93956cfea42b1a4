"""A log's replayed state on the disk, made once and read as it is wanted."""
