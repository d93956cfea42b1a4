"""The journal of the notes' folder: what it was at each moment, and the way back."""
