"""The graph on the page: its view, and what its script draws."""
