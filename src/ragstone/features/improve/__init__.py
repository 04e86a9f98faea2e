"""A judge and labels -> a better judge: developed by hand, learnt, or fitted as a cascade."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
