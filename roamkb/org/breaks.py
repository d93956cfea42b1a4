"""The invisible letter that keeps org from acting on a text."""

#: U+200B: the manual's own escape character; what it splits stays readable.
BREAK = "\u200b"
