"""Shell text as simple commands, and the effect of programs on their arguments."""
