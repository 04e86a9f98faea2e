"""A text as it is read: without what is invisible, or with its escapes undone."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ragstone.kernel.privacy.span import Span

# Default_Ignorable_Code_Point of Unicode 16 (DerivedCoreProperties.txt): shown as nothing at all.
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""The characters of a class of a regular expression."""
_INVISIBLE = re.compile(f"[{IGNORABLE}]")

# A percent sign may be escaped itself: %2540. Behind one, a character of UTF-8 is one to four bytes.
_PERCENT = r"%(?:25)*+"
_REST = rf"{_PERCENT}[89ABab][0-9A-Fa-f]"
_ESCAPE = re.compile(
    rf"(?P<percent>{_PERCENT}(?:[2-7][0-9A-Fa-f]|[CDcd][0-9A-Fa-f]{_REST}|[Ee][0-9A-Fa-f](?:{_REST}){{2}}"
    rf"|[Ff][0-7](?:{_REST}){{3}}))"
    r"|&(?:amp;)*+(?P<entity>#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,31});"
    r"|\\++u(?P<json>(?![Dd][89A-Fa-f])[0-9A-Fa-f]{4})"
)
_BYTE = re.compile(rf"{_PERCENT}(?P<byte>[0-9A-Fa-f]{{2}})")


class Normalised(NamedTuple):
    """A text made from another one. text[n] stood at starts[n] to ends[n]."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def original(self, span: Span) -> Span:
        """Return the place of the other text that a place of this one was made from."""
        return span._replace(start=self.starts[span.start], end=self.ends[span.end - 1])


def without_invisible(text: str) -> Normalised | None:
    """Return a text without the characters that are shown as nothing; None where it holds none."""
    if text.isascii() or not _INVISIBLE.search(text):
        return None
    hidden = {match.start() for match in _INVISIBLE.finditer(text)}
    starts = [at for at in range(len(text)) if at not in hidden]
    return Normalised(_INVISIBLE.sub("", text), starts, [at + 1 for at in starts])


def unescaped(text: str) -> Normalised | None:
    """Return a text with the escapes of addresses, HTML and JSON undone; None where it holds none."""
    if not ("%" in text or "&" in text or "\\" in text):
        return None
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    last = 0
    for match in _ESCAPE.finditer(text):
        meant = _meant(match)
        if meant is not None:
            pieces += [text[last : match.start()], meant]
            starts += [*range(last, match.start()), *[match.start()] * len(meant)]
            ends += [*range(last + 1, match.start() + 1), *[match.end()] * len(meant)]
            last = match.end()
    if not pieces:
        return None
    rest = range(last, len(text))
    return Normalised("".join([*pieces, text[last:]]), [*starts, *rest], [*ends, *(at + 1 for at in rest)])


def _meant(escape: re.Match[str]) -> str | None:
    """Return what an escape means; None where it is none, or means a character that nothing shows."""
    if escape["percent"]:
        written = bytes(int(code["byte"], 16) for code in _BYTE.finditer(escape[0]))
        meant = written.decode("utf-8", "replace")
    elif escape["json"]:
        meant = chr(int(escape["json"], 16))
    else:
        import html.entities  # its table of 2,231 entities is read where a text holds one

        entity = f"{escape['entity']};"
        meant = html.unescape(f"&{entity}") if entity[0] == "#" else html.entities.html5.get(entity, "")
    return meant if meant.isprintable() and meant and "\ufffd" not in meant else None
