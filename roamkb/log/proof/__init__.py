"""Proof that a human said yes: a security key's signature of what was shown, in the event itself (D27)."""
