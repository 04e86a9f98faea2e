"""A PDF -> a document: its text in reading order, without page furniture."""
