"""Bytes of a text file -> text, and the encoding that it was in."""

import codecs
import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from ragstone.kernel.files.file import Unreadable
from ragstone.kernel.files.language import detect_language

_DECLARED = re.compile(rb"""(?:charset|encoding)\s*+=\s*+["']?+\s*+([\w.:-]++)""", re.IGNORECASE)
_HEAD_BYTES = 2048  # where HTML must declare its encoding: the standard says within 1024
_UTF8 = re.compile(rb"((?:[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})+)")
_HIGH = re.compile(rb"[\x80-\xff]+")
_ASCII = bytes(range(128))
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOSTLY_UTF8 = 0.8  # of the bytes above ASCII of a line
_HALF_UTF8 = 0.5  # the same where the rest is in a single-byte encoding, which reads as UTF-8 hardly ever
_SAMPLE = 100_000  # bytes that an encoding is guessed from
_LOOKED_AT = 10_000  # characters that are looked at for signs of a binary file

# What files of people are in; DOS, Mac and EBCDIC code pages would only win by chance.
_MULTIBYTE = ("big5hkscs", "cp932", "cp949", "euc_jis_2004", "gb18030")
_SINGLE_BYTE = (
    *(f"cp{number}" for number in (1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258, 874)),
    *("iso8859-2", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-15", "koi8-r", "koi8-u"),
)
# What reads as one of these in cp1252 is in cp1252: the guess takes it for a neighbour at times.
_WESTERN = frozenset({"ca", "da", "de", "en", "es", "eu", "fi", "fr", "ga", "gl", "is", "it", "nb", "nl"}) | {
    *("nn", "no", "pt", "sv"),
}


class DecodedText(NamedTuple):
    """A text, and the name of the encoding that it was in."""

    text: str
    encoding: str

    def notes(self) -> dict[str, str]:
        """Return the metadata that names the encoding, empty for UTF-8."""
        return {} if self.encoding == "utf-8" else {"encoding": self.encoding}


def decode(content: bytes, *, html: bool = False) -> DecodedText:
    """Return the text and the name of its encoding; every line end becomes "\\n".

    Tried in this order: a byte order mark (UTF-8, UTF-16, UTF-32), UTF-8, UTF-16 without its mark, what an
    HTML file declares (if `html`), and a guess among the legacy encodings, where bytes that the guess leaves
    undefined become U+FFFD. A file whose lines are in UTF-8 and in another encoding is read line by line; its
    encoding is "utf-8 and NAME".

    Raises Unreadable for what is no text: a NUL, or many control characters.
    """
    text, encoding = _decoded(content, _declared(content) if html else None)
    head = text[:_LOOKED_AT]
    if "\0" in text or len(_CONTROLS.findall(head)) > 1 + len(head) // 50:
        raise Unreadable("it is not text: it has control characters")
    return DecodedText(text.replace("\r\n", "\n").replace("\r", "\n"), encoding)


def decode_unmixed(content: bytes) -> DecodedText | None:
    """Return what `decode` does; None where a part of the text is in UTF-8 and a part is not.

    For formats that are in UTF-8 by their definition, such as JSON: a stray byte says nothing of the rest.
    """
    decoded = decode(content)
    encoding = decoded.encoding
    is_guess = not encoding.startswith("utf-") and not content.isascii()
    mixed = " and " in encoding or (is_guess and _utf8_share(content) >= _HALF_UTF8)
    return None if mixed else decoded


def stray_byte(line: bytes) -> str | None:
    """Return what is wrong with a line that should be in UTF-8, as a clause; None where nothing is."""
    try:
        line.decode()
    except UnicodeDecodeError as mistake:
        at = len(line[: mistake.start].decode()) + 1
        return f"the byte 0x{line[mistake.start]:02X} at character {at:,} is not UTF-8"
    return None


def _decoded(content: bytes, declared: str | None) -> tuple[str, str]:
    marked = None
    # The mark of little-endian UTF-32 begins with that of UTF-16; a text does not go on with NUL.
    if content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        marked = "utf-32"
    elif content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        marked = "utf-16"
    if marked:
        try:
            return content.decode(marked), marked
        except UnicodeDecodeError as mistake:
            raise Unreadable(f"it begins like {marked.upper()} but is not ({mistake.reason})") from None
    if b"\0" in content:
        return _without_mark(content)
    for encoding in ("iso2022_jp", "utf-8") if b"\x1b$" in content else ("utf-8",):
        try:
            return content.removeprefix(codecs.BOM_UTF8).decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return _line_by_line(content, declared)


def _without_mark(content: bytes) -> tuple[str, str]:
    """Decode UTF-16 without its mark: NULs stand at every second byte, and all characters exist."""
    odd, even = content[1::2].count(0), content[::2].count(0)
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    try:
        text = content.decode(encoding) if max(odd, even) >= 9 * min(odd, even) else "\0"
    except UnicodeDecodeError:
        text = "\0"
    if any(unicodedata.category(character) in ("Cn", "Co") for character in text[:_LOOKED_AT]):
        text = "\0"
    return text, encoding


def _line_by_line(content: bytes, declared: str | None) -> tuple[str, str]:
    """Decode what is not UTF-8, or not all of it."""
    lines = content.split(b"\n")
    shares = {n: _utf8_share(line) for n, line in enumerate(lines) if not line.isascii()}
    foreign = [lines[n] for n, share in shares.items() if share < _MOSTLY_UTF8]
    legacy = declared or _guess(foreign or list(filter(None, _UTF8.sub(b"", content).split(b"\n"))))
    mostly = _MOSTLY_UTF8 if legacy in _MULTIBYTE else _HALF_UTF8
    n_utf8 = sum(share >= mostly for share in shares.values())
    # By chance a short line of Chinese or Japanese is valid as UTF-8; one of a single-byte encoding is not.
    if n_utf8 == 0 or (legacy in _MULTIBYTE and n_utf8 < len(foreign)):
        return content.decode(legacy, errors="replace"), legacy
    for n, share in shares.items():
        if share < mostly:
            lines[n] = lines[n].decode(legacy, errors="replace").encode()
        elif share < 1:
            parts = _UTF8.split(lines[n])
            parts[::2] = [part.decode(legacy, errors="replace").encode() for part in parts[::2]]
            lines[n] = b"".join(parts)
    return b"\n".join(lines).decode("utf-8", errors="replace"), f"utf-8 and {legacy}"


def _utf8_share(line: bytes) -> float:
    """Return the share of the bytes above ASCII that are part of a character of UTF-8."""
    n_high = len(line.translate(None, _ASCII))
    return 1 - len(_UTF8.sub(b"", line).translate(None, _ASCII)) / n_high


def _guess(lines: Sequence[bytes]) -> str:
    """Return the legacy encoding that lines are in, by the frequencies of its characters; else cp1252."""
    import chardet

    sample = b"\n".join(lines)[:_SAMPLE]
    accents = _HIGH.findall(sample)
    # Accents stand alone in languages of Latin letters; letters of other scripts stand in words.
    latin = sum(map(len, accents)) < 1.5 * len(accents)
    if latin and _language(sample, "cp1252") in _WESTERN:
        return "cp1252"
    guess = chardet.detect(sample, include_encodings=_MULTIBYTE + _SINGLE_BYTE)["encoding"]
    try:
        name = codecs.lookup(guess or "cp1252").name
        b"\n".join(lines).decode(name)
    except (LookupError, UnicodeDecodeError):
        return "cp1252"
    return "cp1252" if latin and _language(sample, name) in (None, *_WESTERN) else name


def _language(sample: bytes, encoding: str) -> str | None:
    return detect_language(sample.decode(encoding, errors="replace"))


def _declared(content: bytes) -> str | None:
    """Return the codec that a head declares; None for one that cannot be meant, since UTF-8 has failed.

    Latin-1 and ASCII mean cp1252, as in browsers (WHATWG Encoding); UTF-16 cannot declare itself in ASCII.
    """
    match = _DECLARED.search(content[:_HEAD_BYTES])
    try:
        name = codecs.lookup(match[1].decode("ascii")).name if match else "utf-8"
        content.decode(name)
    except (LookupError, UnicodeDecodeError):
        return None
    if name.startswith(("utf-", "utf_")):
        return None
    return "cp1252" if name in ("iso8859-1", "ascii") else name
