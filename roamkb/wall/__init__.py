"""The wall: what the kernel keeps one command and its children from writing (design D23)."""
