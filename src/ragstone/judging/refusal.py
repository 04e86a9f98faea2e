"""Whether an answer is a plain refusal, by phrases of refusal in several languages; no model is asked."""

import functools
import re

from ragstone.config import read_library
from ragstone.retrieval import tokenize

# An answer may say further down what it does not know; a refusal begins with it. In words, or letters of a
# script without spaces.
WITHIN = 30
WITHIN_LETTERS = 80
GAP = r"(?:\S+ ){0,8}?"
WITHOUT_SPACES = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")


def no_refusal(answer: str) -> float:
    """0 if the answer begins with a refusal, or says nothing, else 1.

    Begins: a phrase of words/refusals.toml starts within its first 30 words (80 letters of a script without
    spaces). An answer that first owns up to a doubt and then answers counts as a refusal too.
    """
    words = tokenize(answer)
    if not any(character.isalnum() for character in answer):
        return 0.0
    most = WITHIN_LETTERS if WITHOUT_SPACES.search(answer) else WITHIN
    head = f" {' '.join(words[: most + 8])} "
    found = _phrases().search(head)
    return float(found is None or head.count(" ", 0, found.start() + 1) > most)


@functools.cache
def _phrases() -> re.Pattern[str]:
    """Return a pattern of all phrases, to be searched in words that stand between single spaces."""
    listed = read_library("ragstone.judging", "words/refusals.toml")
    patterns = {_pattern(phrase) for phrases in listed.values() for phrase in phrases}
    return re.compile("|".join(sorted(patterns)))


def _pattern(phrase: str) -> str:
    parts = [" ".join(map(re.escape, tokenize(part))) for part in phrase.split("*")]
    return " " + f" {GAP}".join(parts) + " "
