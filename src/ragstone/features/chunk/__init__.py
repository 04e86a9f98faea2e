"""Documents -> chunks."""
