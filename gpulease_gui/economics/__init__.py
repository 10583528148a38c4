"""What an offer costs, how good it is, what fits on it, and where it hides something."""
