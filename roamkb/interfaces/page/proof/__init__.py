"""A human's yes on the page: the touch of a key that the browser asks for, never a click (D27)."""
