"""Ragstone: a touchstone for retrieval-augmented generation. The public API stands in __init__.pyi."""

import lazy_loader

from ragstone.kernel.version import __version__ as __version__

# A name is imported when it is first used: `import ragstone` stays quick, and opens and reads nothing.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
