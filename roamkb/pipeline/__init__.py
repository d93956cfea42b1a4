"""From observations to verified knowledge: observe, consolidate, verify, promote."""
