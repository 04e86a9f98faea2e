"""What a tool tells the agent: text from elsewhere, made plain and short; failures in words."""

import unicodedata

from ragstone.assistant.tool import Observation
from ragstone.llm.untrusted import defuse

MOST = 4000  # characters of an observation: some 1,000 tokens, which a small model's context has room for
CUT = " […]"

DOING = {
    "en": "Using {name}…",
    "es": "Usando {name}…",
    "fr": "Utilisation de {name}…",
    "hi": "{name} का उपयोग हो रहा है…",
    "ar": "جارٍ استخدام {name}…",
    "sw": "Inatumia {name}…",
}


def failed(text: str) -> Observation:
    """Return the observation of a call that could not be done; the text says why."""
    return Observation(text=bounded(text), failed=True)


def bounded(text: str, most: int = MOST) -> str:
    """Return a text without control characters and live control tokens, of at most `most` characters.

    A longer one ends with a mark that says so.
    """
    kept = "".join(one if one in "\n\t" or _is_plain(one) else " " for one in text[: 2 * most])
    plain = defuse(kept).strip()
    return plain if len(plain) <= most else plain[: most - len(CUT)].rstrip() + CUT


def line(text: str, most: int = 200) -> str:
    """Return a text on one line, made plain; its beginning if it is longer than `most` characters."""
    return bounded(" ".join(text[: 4 * most].split()), most)


def doing_of(name: str) -> dict[str, str]:
    """Return what the page shows while a tool works that has no words of its own for it."""
    return {lang: words.format(name=name) for lang, words in DOING.items()}


def _is_plain(one: str) -> bool:
    """Return whether a character may be shown. Half surrogates may not; joiners of Indic scripts may."""
    return (
        unicodedata.category(one) not in ("Cc", "Cs")
        and one not in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068"
    )
