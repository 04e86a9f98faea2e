"""`ragstone bench retrievers`: ways to cut documents and to search them, on the same questions."""
