"""What `doctor` checks: notes, org-roam, harnesses and the wall, and how it reports each."""
