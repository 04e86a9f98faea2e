"""How a long stage tells how far it is: the engine counts, the caller draws."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

Advance = Callable[[], None]
Progress = Callable[[str, int | None], AbstractContextManager[Advance]]
"""Name of the stage and number of rows, if known -> a context that gives a function to call for each row."""


@contextlib.contextmanager
def silent(_stage: str, _total: int | None) -> Iterator[Advance]:
    """Show nothing."""
    yield lambda: None
