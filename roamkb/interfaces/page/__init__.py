"""The page for people, in a browser on this machine: it shows, and changes what a click may (owns Jinja2)."""
