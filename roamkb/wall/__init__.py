"""The wall: files that the kernel keeps a command and its children from writing (design D23)."""
