"""Statements found in a session: hook payloads, transcripts, markers and model extraction."""
