"""Sentences that speak to the model instead of to the reader are taken out of documents and tools' results.

The fence (llm/untrusted.py) and what the model is told are the first guard. This is the second: what has been
taken out can be neither obeyed nor used as the support of an answer. It knows words, not meaning: an order in
words that its list lacks stays in, and so does a lie that is written as plain advice.
"""

import re
import unicodedata
from functools import cache, lru_cache

from ragstone.assistant.guards.words import any_of, near, said
from ragstone.config import read_library
from ragstone.corpus.sentences import sentence_spans
from ragstone.llm.untrusted import plays_a_turn

LEFT_OUT = "[…]"
_TURN = re.compile(r"^\W*(?:system|assistant|user|developer|human|ai)(?:\W*\n|\s*+[:#\]])", re.IGNORECASE)
_ROLE = re.compile(r"""["']?role["']?\s*[:=]\s*["']?(?:system|assistant|user|tool)""", re.IGNORECASE)
_TAG = re.compile(
    r"</?\s*(?:contexts?|passages?|question|system|instructions?|observation|tool)\b[^>\n]{0,40}>",
    re.IGNORECASE,
)


@lru_cache(maxsize=512)  # 3 ms a passage; the same ones are found again and again
def without_instructions(text: str) -> str:
    """Return a text with `[…]` in place of each sentence that speaks to a model, and of HTML comments."""
    text = _without_comments(text)
    kept, end = [], 0
    for start, stop in sentence_spans(text):
        if speaks_to_model(text[start:stop]):
            kept.append(text[end:start] + LEFT_OUT)
            end = stop
    return "".join(kept) + text[end:]


def _without_comments(text: str) -> str:
    pieces, at = [], 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin + 4)) >= 0:
        pieces += [text[at:begin], LEFT_OUT]
        at = end + 3
    return "".join([*pieces, text[at:]])


def speaks_to_model(sentence: str) -> bool:
    """Say whether a sentence gives orders to a model, plays a turn of a chat, or hides its letters.

    Hidden: letters of the Latin script and look-alikes of the Cyrillic in one word.
    """
    if plays_a_turn(sentence) or _TURN.match(sentence) or _ROLE.search(sentence) or _TAG.search(sentence):
        return True
    words = said(sentence)
    return any(pattern.search(words) for pattern in _patterns()) or _mixes_scripts(words)


def _mixes_scripts(words: str) -> bool:
    if words.isascii():
        return False
    return any({"LATIN", "CYRILLIC"} <= {_script(letter) for letter in word} for word in words.split())


def _script(letter: str) -> str:
    return unicodedata.name(letter, "?").split(maxsplit=1)[0]


@cache
def _patterns() -> list[re.Pattern[str]]:
    found = []
    for table in read_library("ragstone.assistant.guards", "instructions.toml").values():
        found += [any_of(table["phrases"]), near(table["orders"], table["matters"])]
    return found
