"""The journal on the disk: looks, copies, tables and restores."""
