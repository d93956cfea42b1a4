"""Transcripts, other tools' files and a project's references on the disk."""
