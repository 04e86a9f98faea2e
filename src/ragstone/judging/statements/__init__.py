"""Judges that take a text apart and give each atomic statement, or each context, one verdict."""
