"""Words that are true of any answer and say nothing: what attacks and paddings are compared with."""

import functools
import tomllib
from importlib import resources
from itertools import accumulate, cycle

from ragstone.corpus.language import detect_language
from ragstone.records import Answer

DEFAULT = "en"


@functools.cache
def neutral_sentences() -> dict[str, list[str]]:
    """Return language -> its sentences."""
    text = (resources.files("ragstone.agreement.attacks") / "base" / "neutral.toml").read_text("utf-8")
    return dict(tomllib.loads(text))


def neutral_text(lang: str, length: int) -> str:
    """Return neutral sentences of at least `length` characters together, the fewest that are; never none.

    lang: English is taken where the language has none of its own.
    """
    sentences = neutral_sentences().get(lang) or neutral_sentences()[DEFAULT]
    joint = "" if lang == "zh" else " "
    grown = accumulate(cycle(sentences), lambda text, sentence: f"{text}{joint}{sentence}")
    return next(text for text in grown if len(text) >= length)


def language_of(row: Answer) -> str:
    """Return the language of a row: its tag `lang`, else that of its question or answer as detected."""
    tagged = (row.tags or {}).get("lang")
    return tagged or detect_language(row.question or row.answer) or DEFAULT
