"""What every translator is: texts that belong together, from one language to another."""

from collections.abc import Sequence
from typing import Protocol


class Translate(Protocol):
    """Returns the texts in the target language, one for each, in their order.

    about: the title of what the texts are from, for a translator that can use it. Raises CallFailed, with the
    status that the row gets, where one of the texts has no translation; ModelError where none ever will.
    """

    async def __call__(
        self, texts: Sequence[str], source: str, target: str, about: str | None = None
    ) -> list[str]:
        """Translate the texts of one row."""
        ...
