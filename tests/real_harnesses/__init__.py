"""Real harnesses with a script for a model: started by hand, since CI has no harness."""
