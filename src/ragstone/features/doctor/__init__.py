"""What is installed, which models answer, what is missing and how to get it."""
