"""Texts of a log that cannot stand alone in an evaluation set: greetings, thanks, follow-ups."""

import re
from functools import cache
from typing import Literal, NamedTuple

from ragstone.kernel.config import read_library

Why = Literal["nothing_asked", "small_talk", "follow_up"]

MOST_STARTED = 5  # words of a follow-up that a word such as "and" begins
MOST_REFERRING = 5  # words of a question whose subject is only referred to

# Vowel signs of Indic scripts are no letters for re, and must not be taken off.
_EDGES = (
    "".join(map(chr, range(0x21, 0x30)))
    + ":;<=>?@[\\]^_`{|}~¿¡…।॥؟،؛۔“”„«»‘’‚‹›,。!?、;:・「」()–—-•\u200e\u200f"
)
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]")
# "And maize?" in Chinese and Japanese; and what "it" refers to is not said.
_UNSPACED_FOLLOW_UP = re.compile(
    "^(?:那|那么|还有|那麼).{1,10}呢?$|^.{1,6}呢$|^(?:じゃあ|では|それで).{1,10}$|^(?:它|他|她|这|那|这个|那个).{1,6}$"
    "|^(?:それ|これ|あれ)(?:は|を|の).{1,8}$|^(?:แล้ว).{1,12}(?:ล่ะ|ละ)$"
)


class _Words(NamedTuple):
    small_talk: frozenset[str]
    small_talk_unspaced: frozenset[str]
    follow_ups: frozenset[str]
    starts: frozenset[str]
    refer: frozenset[str]
    refer_at_the_end: frozenset[str]


def why_left_out(text: str) -> Why | None:
    """Return why a text cannot be asked alone, None where it can.

    nothing_asked: it has no letter. small_talk: nothing but words of greeting, thanks, yes and no. follow_up:
    one of the usual ones ("why?", "tell me more"); at most MOST_STARTED words of which the first go on with
    something ("and for maize?"); or at most MOST_REFERRING words with a pronoun that refers to what is not
    there ("how much does it cost?"). No language is guessed: the words of some twenty are looked for at once.
    """
    if not any(character.isalpha() for character in text):
        return "nothing_asked"
    known = _words()
    tokens = [word for piece in text.casefold().split() if (word := piece.strip(_EDGES))]
    plain = " ".join(tokens)
    if all(word in known.small_talk for word in tokens) or plain in known.small_talk_unspaced:
        return "small_talk"
    if plain in known.follow_ups:
        return "follow_up"
    begins = (" ".join(tokens[:n]) for n in range(1, min(len(tokens), 5) + 1))
    if len(tokens) <= MOST_STARTED and any(begin in known.starts for begin in begins):
        return "follow_up"
    refers = any(word in known.refer for word in tokens) or tokens[-1] in known.refer_at_the_end
    if refers and len(tokens) <= MOST_REFERRING and not _UNSPACED.search(tokens[0]):
        return "follow_up"
    if _UNSPACED.search(plain) and _UNSPACED_FOLLOW_UP.match(plain):
        return "follow_up"
    return None


@cache
def _words() -> _Words:
    listed = read_library("ragstone.kernel.dataset", "standing.toml")
    return _Words(
        *(
            frozenset(listed[key].split() if isinstance(listed[key], str) else listed[key])
            for key in _Words._fields
        )
    )
