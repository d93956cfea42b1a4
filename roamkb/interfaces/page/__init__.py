"""The page for people, in a browser on this machine: it shows, and changes nothing (owns Jinja2)."""
