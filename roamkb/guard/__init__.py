"""Judgement of tool calls before they run: commands that would change protected files."""
