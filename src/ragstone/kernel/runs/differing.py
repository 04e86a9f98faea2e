"""The words in which the answers of several systems differ, each against one of them."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

import msgspec

from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.judging.trajectory import in_order

MOST_WORDS = 3_000  # of an answer: two of them take some 20 ms
MOST_IN_A_WORD = 4  # tokens between two spaces; of more, in a script without spaces, each character counts

Span = tuple[int, int]


class WordDifferences(msgspec.Struct, frozen=True, kw_only=True):
    """Where answers differ from one of them. against: its system.

    spans: of each answer, in their order, the stretches in code points that the other has not; of the one
    that they are compared with, those that none of the others has.
    """

    against: str
    spans: list[list[Span]]


def word_differences(answers: Sequence[tuple[str, str]], against: str | None) -> WordDifferences | None:
    """Return where answers, as (system, text), differ; None for fewer than two, or too long ones.

    against: the system that the others are compared with, default the first. An empty text stays as it is.
    Words are compared as search compares them, by `tokenize`: case, punctuation and full-width forms do not
    count. The words that are not marked are a longest common subsequence (Hyyrö 2004).
    """
    held = [(system, text) for system, text in answers if text]
    if len(held) < 2:
        return None
    base = next((system for system, _ in held if system == against), held[0][0])
    by_system = {system: list(_words(text)) for system, text in held}
    if max(map(len, by_system.values())) > MOST_WORDS:
        return None
    own = [word for word, _ in by_system[base]]
    common: set[int] = set()
    spans: dict[str, list[Span]] = {}
    for system, placed in by_system.items():
        if system != base:
            pairs = in_order(own, [word for word, _ in placed])
            common |= {at for at, _ in pairs}
            matched = {at for _, at in pairs}
            spans[system] = _joined([span for at, (_, span) in enumerate(placed) if at not in matched])
    spans[base] = _joined([span for at, (_, span) in enumerate(by_system[base]) if at not in common])
    return WordDifferences(against=base, spans=[spans.get(system, []) for system, _ in answers])


def _words(text: str) -> Iterator[tuple[str, Span]]:
    """Yield each word as it is compared, with its place."""
    for piece in re.finditer(r"\S+", text):
        tokens = tokenize(piece[0])
        if len(tokens) > MOST_IN_A_WORD and not piece[0].isascii():
            starts = [
                at for at, sign in enumerate(piece[0]) if unicodedata.category(sign)[0] != "M" or not at
            ]
            for start, end in zip(starts, [*starts[1:], len(piece[0])], strict=True):
                span = (piece.start() + start, piece.start() + end)
                yield piece[0][start:end], span
        else:
            yield " ".join(tokens) or piece[0], piece.span()


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Return spans with those joined between which one space stands at most."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and start - joined[-1][1] <= 1:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
