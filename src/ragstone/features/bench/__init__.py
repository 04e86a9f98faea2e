"""A grid from ragstone.toml -> which retriever, answerer or judge is better, if the data can tell."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
