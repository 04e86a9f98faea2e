"""What people wrote about answers -> modes: a tag that several notes share, or a word that they do."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.judging.matching import word_weight
from ragstone.kernel.records import Label
from ragstone.kernel.runs.modes import ModeEvidence
from ragstone.kernel.runs.notes import Note

FEWEST_TAGGED, FEWEST_ALIKE = 2, 3  # answers with a tag in common, or with a word in common
TELLING = 0.6  # of the largest weight among the words of the notes: below, a word says little
SHOWN = 3  # notes that the question repeats
LONGEST = 70  # characters of each


class NotedMode(msgspec.Struct, frozen=True, kw_only=True):
    """A mode that people's notes name."""

    title: str
    question: str
    evidence: list[ModeEvidence]


def noted_modes(notes: Sequence[Note], labels: Sequence[Label], systems: Sequence[str]) -> list[NotedMode]:
    """Return the modes of people's notes: their tags first, then words of those without a tag.

    A note that names no system is about the only one; of several, about the first. The reasons of labels
    below the middle of 0 to 1 are notes without a tag.
    """
    by_tag: dict[str, list[ModeEvidence]] = defaultdict(list)
    plain: list[ModeEvidence] = []
    for note in notes:
        row = _evidence(note.question_id, note.system or systems[0], note.text)
        for tag in note.tags:
            by_tag[" ".join(tag.split())].append(row)
        plain += [] if note.tags else [row]
    plain += [
        _evidence(row.question_id, row.system, row.rationale)
        for row in labels
        if row.rationale and row.score < 0.5
    ]
    groups = [(tag, rows, FEWEST_TAGGED) for tag, rows in by_tag.items()]
    groups += [(word, rows, FEWEST_ALIKE) for word, rows in _by_words(plain)]
    return [
        NotedMode(title=title, question=_question(title, rows), evidence=rows)
        for title, rows, fewest in groups
        if len({(row.question_id, row.system) for row in rows}) >= fewest
    ]


def _evidence(question_id: str, system: str, text: str) -> ModeEvidence:
    return ModeEvidence(question_id=question_id, system=system, quote=" ".join(text.split()), part="note")


def _by_words(rows: Sequence[ModeEvidence]) -> Iterable[tuple[str, list[ModeEvidence]]]:
    """Yield the words that most notes share, each with its notes that no word before had."""
    left = list(rows)
    words = [set(tokenize(row.quote)) for row in left]
    most = max((word_weight(word) for own in words for word in own), default=0.0)
    while True:
        held: dict[str, list[int]] = defaultdict(list)
        for at, own in enumerate(words):
            for word in own:
                if word_weight(word) >= TELLING * most:
                    held[word].append(at)
        best = max(held, key=lambda word: (len(held[word]), word_weight(word), word), default=None)
        if best is None or len(held[best]) < FEWEST_ALIKE:
            return
        yield best, [left[at] for at in held[best]]
        keep = [at for at in range(len(left)) if at not in held[best]]
        left, words = [left[at] for at in keep], [words[at] for at in keep]


def _question(title: str, rows: Sequence[ModeEvidence]) -> str:
    quoted = "; ".join(f"“{row.quote[:LONGEST].strip()}”" for row in rows[:SHOWN])
    return f"The answer has the mistake that people call “{title}”, as they wrote: {quoted}."[:300]
