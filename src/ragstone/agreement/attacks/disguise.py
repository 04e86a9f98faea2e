"""Words -> the same words, encoded, invisible, or in letters that look alike."""

import base64
import codecs
from collections.abc import Callable

ZERO_WIDTH_SPACE = "\u200b"
RIGHT_TO_LEFT, POP = "\u202e", "\u202c"
TAGS = 0xE0000  # the block that repeats ASCII without a glyph
LOOK_ALIKES = str.maketrans(
    "aceiopsxyACEHIOPX",
    "\u0430\u0441\u0435\u0456\u043e\u0440\u0455\u0445\u0443\u0410\u0421\u0415\u041d\u0406\u041e\u0420\u0425",
)
LEET = str.maketrans("aeiost", "431057")


def as_base64(text: str) -> str:
    """Return the text in base64."""
    return base64.b64encode(text.encode()).decode()


def as_tags(text: str) -> str:
    """Return the ASCII characters of the text as tag characters, which no font shows."""
    return "".join(chr(TAGS + ord(letter)) for letter in text if letter.isascii() and letter.isprintable())


def as_reversed(text: str) -> str:
    """Return the text backwards between marks that make it read forwards on a screen."""
    return f"{RIGHT_TO_LEFT}{text[::-1]}{POP}"


DISGUISES: dict[str, Callable[[str], str]] = {
    "base64": as_base64,
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "hex": lambda text: text.encode().hex(" "),
    "leet": lambda text: text.translate(LEET),
    "spaced": lambda text: " ".join(text),
    "zero_width": ZERO_WIDTH_SPACE.join,
    "tags": as_tags,
    "reversed": as_reversed,
    "look_alikes": lambda text: text.translate(LOOK_ALIKES),
}
