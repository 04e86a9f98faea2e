"""Judgements and people's labels -> how far a judge can be trusted."""

import lazy_loader

# A name that the documentation gave from here; all public ones are `ragstone.NAME`.
__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={"corrected": ["corrected_means"]})
