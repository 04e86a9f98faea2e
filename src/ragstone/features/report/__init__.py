"""A run -> its report."""
