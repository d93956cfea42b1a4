"""Harnesses' hooks: JSON in, JSON out, status 0; imports next to nothing."""
