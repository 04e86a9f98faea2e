"""Texts -> vectors: a packaged model by default, each text embedded once."""

import lazy_loader

# The name that the documentation gives from here.
__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={"opening": ["open_embedder"]})
