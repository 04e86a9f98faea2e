"""Bytes of a text file -> text, and the encoding that it was in."""

import codecs
import re

from ragstone.corpus.file import Unreadable

_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_HEAD_BYTES = 2048  # where HTML must declare its encoding: the standard says within 1024


def decode(content: bytes, *, html: bool = False) -> tuple[str, str]:
    """Return the text and the name of its encoding; every line end becomes "\\n".

    Tried in this order: a byte order mark (UTF-8, UTF-16), UTF-8, what an HTML file declares (if `html`),
    and cp1252, where the five bytes that it leaves undefined become U+FFFD.
    Raises Unreadable for a text that holds NUL: a binary file, or UTF-16 without its mark.
    """
    text, encoding = _decoded(content, _declared(content) if html else None)
    if "\0" in text:
        raise Unreadable("it is no text: it holds NUL bytes (UTF-16 needs a byte order mark)")
    return text.replace("\r\n", "\n").replace("\r", "\n"), encoding


def encoding_note(encoding: str) -> dict[str, str]:
    """Return the metadata that names an encoding, empty for UTF-8."""
    return {} if encoding == "utf-8" else {"encoding": encoding}


def _decoded(content: bytes, declared: str | None) -> tuple[str, str]:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return content.decode("utf-16"), "utf-16"
        except UnicodeDecodeError as mistake:
            raise Unreadable(f"it begins as UTF-16 and is not ({mistake.reason})") from None
    for encoding in filter(None, ("utf-8", declared)):
        try:
            return content.removeprefix(codecs.BOM_UTF8).decode(encoding), encoding
        except (UnicodeDecodeError, LookupError):
            continue
    return content.decode("cp1252", errors="replace"), "cp1252"


def _declared(content: bytes) -> str | None:
    """Return the codec that a head declares; None for one that cannot be meant, since UTF-8 has failed.

    Latin-1 and ASCII mean cp1252, as in browsers (WHATWG Encoding); UTF-16 cannot declare itself in ASCII.
    """
    found = _DECLARED.search(content[:_HEAD_BYTES])
    try:
        name = codecs.lookup(found[1].decode("ascii")).name if found else ""
    except (LookupError, UnicodeDecodeError):
        return None
    return (
        None if name.startswith(("iso8859-1", "ascii", "utf-16", "utf-32")) and name != "iso8859-15" else name
    )
