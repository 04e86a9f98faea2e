"""`ragstone bench languages`: indexes of one language, of each, and of all."""
