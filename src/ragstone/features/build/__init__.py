"""Documents -> a critiqued evaluation set and its certificate."""
