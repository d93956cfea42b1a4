"""The page for people, in a browser on this machine: it shows, and changes what needs no proof of a human (owns Jinja2)."""
