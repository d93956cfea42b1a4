"""Disk: every file is opened here."""
