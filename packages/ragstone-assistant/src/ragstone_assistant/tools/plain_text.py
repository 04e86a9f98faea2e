"""Text from elsewhere, made plain and short, as tools and prompts show it; failures in words."""

import unicodedata

from ragstone.kernel.llm.untrusted import defuse
from ragstone_assistant.tool import Observation

MARK = "…"


def shortened(text: str, most: int, mark: str = MARK) -> str:
    """Return a text of at most `most` characters; a longer one ends with a whole word and the mark.

    A text whose last third has no space, as in scripts that write none, is cut where it must be.
    """
    if len(text) <= most:
        return text
    room = most - len(mark)
    begun = text[: room + 1]
    whole = begun[: max(begun.rfind(space) for space in " \n\t")] if any(map(str.isspace, begun)) else ""
    cut = whole if len(whole) > room * 2 // 3 else text[:room]
    return cut.rstrip(" \n\t,;:-–—(") + mark


MOST = 4000  # characters of an observation: some 1,000 tokens, which a small model's context has room for
CUT = " […]"
TURNING = "\u202a\u202b\u202d\u202e\u2066\u2067\u2068"

DOING = {
    "en": "Using {name}…",
    "es": "Usando {name}…",
    "fr": "Utilisation de {name}…",
    "hi": "{name} का उपयोग हो रहा है…",
    "ar": "جارٍ استخدام {name}…",
    "sw": "Inatumia {name}…",
}


def failed(text: str, told: str = "") -> Observation:
    """Return the observation of a call that could not be done; the text says why, and `told` to the user."""
    return Observation(text=bounded(text), told=bounded(told), failed=True)


def bounded(text: str, most: int = MOST) -> str:
    """Return a text without control characters and live control tokens, of at most `most` characters.

    A longer one ends with a mark that says so.
    """
    return shortened(defuse(_plain(text[: 2 * most])).strip(), most, CUT)


def line(text: str, most: int = 200) -> str:
    """Return a text as one line of a longer one, which is to be bounded as a whole; cut as `bounded` cuts."""
    return shortened(" ".join(_plain(text[: 4 * most]).split()), most, CUT)


def doing_of(name: str) -> dict[str, str]:
    """Return what the page shows while a tool works that has no words of its own for it."""
    return {lang: sentence.format(name=name) for lang, sentence in DOING.items()}


def _plain(text: str) -> str:
    """Return a text without control characters, half surrogates and marks that turn its direction."""
    return "".join(
        sign
        if sign in "\n\t" or (unicodedata.category(sign) not in ("Cc", "Cs") and sign not in TURNING)
        else " "
        for sign in text
    )
