"""Views of what a project's log recorded: remedies, what sessions were shown, confidence over time."""
