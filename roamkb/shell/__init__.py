"""Shell text as simple commands, and what programs do with their words."""
