"""Answers -> people's labels: which to label, the queue, the marks."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
