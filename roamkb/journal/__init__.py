"""The journal of the notes' folder: its state at each moment, and restoration."""
