"""Questions of a built set -> a person's decisions, and the set that follows from them."""
