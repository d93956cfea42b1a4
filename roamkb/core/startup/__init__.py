"""Substitutes for slow imports: an agent starts roamkb hundreds of times a day."""
