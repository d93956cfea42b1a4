"""Word lists and word vectors of `roamkb/data`."""
