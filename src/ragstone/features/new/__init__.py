"""A folder to start from: settings and a small data set."""
