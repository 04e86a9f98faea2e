"""`ragstone note`: what people saw, written down beside the rows of a run."""
