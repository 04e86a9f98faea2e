"""Personas -> conversations with an application, and whether they reached their goals."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
