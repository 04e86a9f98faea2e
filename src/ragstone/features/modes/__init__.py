"""Wrong answers -> named failure modes, and how many answers have each."""
