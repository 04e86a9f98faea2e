"""The rows of a run: an index that pages of them are read from, however many there are."""
