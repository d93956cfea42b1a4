"""A project's log on the disk, its index, caches, receipts and observations."""
