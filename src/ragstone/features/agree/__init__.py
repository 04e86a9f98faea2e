"""Judgements and people's labels -> the judge's report card, and means corrected by it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
