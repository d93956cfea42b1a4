"""The graph of the links: what of it is drawn, and where each node lies."""
