"""A run folder as a value: its rows joined, its summary, its settings, and the words of its numbers."""

import lazy_loader

# The names stand in __init__.pyi. Each is imported when it is first used: a command needs few of them.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
