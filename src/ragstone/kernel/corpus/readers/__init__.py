"""One module a format: a file -> documents, or tables of rows."""
