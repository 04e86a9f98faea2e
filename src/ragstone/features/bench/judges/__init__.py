"""`ragstone bench judges`: ways to judge, on answers that people have labelled."""
