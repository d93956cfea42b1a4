"""Instruction files in a project's tree."""
