"""What keeps the start of a process short: an agent starts roamkb hundreds of times a day."""
