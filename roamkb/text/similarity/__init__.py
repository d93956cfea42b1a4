"""Whether two texts say the same, contradict each other, or hold one another."""
