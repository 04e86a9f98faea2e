"""Learning from people's labels: what may make a judge better is tried, measured, and kept where it does."""
