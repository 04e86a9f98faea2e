"""A grid from ragstone.toml -> which retriever, answerer or judge is better, if that can be told."""
