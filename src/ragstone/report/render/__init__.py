"""A document -> what a surface shows of it: one function each."""
