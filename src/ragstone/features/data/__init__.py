"""Two versions of an evaluation set -> what differs, and which figures still compare."""
