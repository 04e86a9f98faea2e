"""A user's own words and patterns that are to be masked."""

import re
from collections.abc import Iterator, Sequence

from ragstone.dataset.masking.span import Span
from ragstone.errors import ConfigError

OwnWords = re.Pattern[str]


def own_words(listed: Sequence[str]) -> OwnWords | None:
    """Return what finds these words, whole and in any case; one between slashes is a regular expression.

    None for an empty list. Raises ConfigError for an expression that is none or that matches nothing at all.
    """
    parts = []
    for one in listed:
        if len(one) > 2 and one[0] == one[-1] == "/":
            parts.append(f"(?:{_checked(one[1:-1])})")
        elif one.strip():
            parts.append(rf"(?<!\w){re.escape(one.strip())}(?!\w)")
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def _checked(expression: str) -> str:
    try:
        compiled = re.compile(expression)
    except re.error as mistake:
        raise ConfigError(f"[sample] mask: /{expression}/ is no regular expression ({mistake}).") from None
    if compiled.match(""):
        raise ConfigError(
            f"[sample] mask: /{expression}/ matches an empty text. Write \\d+ in place of \\d*."
        )
    if compiled.groupindex or re.search(r"\\[1-9]", expression):
        raise ConfigError(f"[sample] mask: /{expression}/: groups with names or numbers cannot be used here.")
    return expression


def find_own(text: str, own: OwnWords) -> Iterator[Span]:
    """Yield where the user's words stand."""
    for match in own.finditer(text):
        if match.end() > match.start():
            yield Span(*match.span(), "masked", match[0].casefold())
