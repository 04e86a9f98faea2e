"""Planted defects: good questions made bad in a known way, without a model, to measure the critics by.

A critic that is never wrong rejects every defect and none of the questions that they were made of.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import get_args

import msgspec
import numpy as np
from numpy.random import Generator

from ragstone.corpus.tokens import tokenize
from ragstone.dataset.built import CriticMeasured, Defect
from ragstone.dataset.candidate import Candidate, Passage
from ragstone.dataset.certifying.critic_verdicts import FILTER, share_of
from ragstone.dataset.dangling import dangle, words_in
from ragstone.judging.critic import Critic
from ragstone.records import references

KINDS: tuple[Defect, ...] = get_args(Defect)

# What the critics that ship are there to find; any other critic is measured on all kinds.
OWN_KINDS: dict[str, tuple[Defect, ...]] = {
    "groundedness": ("wrong_answer", "wrong_document"),
    "relevance": ("trivial",),
    "stand_alone": ("dangling_reference",),
}
ALIKE = 0.5  # the share of their words from which two answers may say the same
LONGEST_TITLE = 120  # characters
NEAREST = 5  # answers of the most similar length, of which a wrong one is drawn


class PlantedDefect(msgspec.Struct, frozen=True, kw_only=True):
    """A question made bad in a known way, and the good one that it was made of."""

    kind: Defect
    original: Candidate
    planted: Candidate


Plant = Callable[[Candidate, Sequence[Candidate], Generator], Candidate | None]


def plant_defects(candidates: Sequence[Candidate], n: int, seed: int) -> list[PlantedDefect]:
    """Return up to n planted defects, of all kinds in turn, each made of another candidate.

    candidates: of a build, after `critique`; used are those with an answer that reached the critics, whatever
    these said of them: to leave out what they rejected would hide their false alarms. Fewer than n where
    there are fewer of them; a kind that cannot be planted (a wrong document, where there is one only) leaves
    its turn to the others. Planted candidates bear no loss and no scores, and the id `ORIGINAL:KIND`.
    """
    rng = np.random.default_rng(seed)
    sound = [one for one in candidates if _reached_critics(one)]
    unused = [sound[at] for at in rng.permutation(len(sound))]
    kinds = list(KINDS)
    found: list[PlantedDefect] = []
    # Two defects that read the same would be one observation: a critic says the same of both.
    asked: set[tuple[Defect, str]] = set()
    while kinds and len(found) < n:
        kind = kinds.pop(0)
        for at, original in enumerate(unused):
            planted = PLANTERS[kind](original, sound, rng)
            if planted is not None and (kind, planted.question.question) not in asked:
                asked.add((kind, planted.question.question))
                found.append(PlantedDefect(kind=kind, original=original, planted=planted))
                del unused[at]
                kinds.append(kind)
                break
    return found


def measure_critics(
    judged: Sequence[tuple[PlantedDefect, Candidate]], critics: Sequence[Critic], threshold: int
) -> list[CriticMeasured]:
    """Return the precision and recall of all critics together (`filter`), then of each, by planted defects.

    judged: each defect, made of a candidate that `critique` has judged, and its planted candidate as
    `critique` returned it. A critic rejects what it scores below the threshold; the filter, what any critic
    does. A critic is measured on the kinds that it is there to find (see OWN_KINDS). For each first over its
    kinds (`kind` None), then by kind; nothing of kinds that no defect is of.

    False alarms are counted on the originals, as many as there are defects: precision is that of a pile of
    which one half is defects. An original may really be bad, and to reject it right: so the precision is a
    lower bound. What has no usable score is in neither count, but in n_failed. Intervals are Wilson's at
    95 %; that of precision is a little wide, since the number of rejected is not fixed beforehand.
    """
    owners = {FILTER: KINDS} | {critic.name: OWN_KINDS.get(critic.name, KINDS) for critic in critics}
    rows = []
    for name, own in owners.items():
        asked = [critic.name for critic in critics] if name == FILTER else [name]
        found = [
            (
                defect.kind,
                _rejected(planted, asked, threshold),
                _rejected(defect.original, asked, threshold),
            )
            for defect, planted in judged
            if defect.kind in own
        ]
        for kind in (None, *own):
            part = [one for one in found if kind in (None, one[0])]
            rows += [_measured(name, kind, part)] if part else []
    return rows


def _measured(
    name: str, kind: Defect | None, found: Sequence[tuple[Defect, bool | None, bool | None]]
) -> CriticMeasured:
    """Return the counts of one critic. found: of each defect whether it, and its original, was rejected."""
    planted, sound = [one[1] for one in found], [one[2] for one in found]
    n_caught, n_rejected = planted.count(True), sound.count(True)
    n_defects, n_sound = len(planted) - planted.count(None), len(sound) - sound.count(None)
    return CriticMeasured(
        critic=name,
        kind=kind,
        n_defects=n_defects,
        n_caught=n_caught,
        n_sound=n_sound,
        n_rejected=n_rejected,
        n_failed=planted.count(None) + sound.count(None),
        recall=share_of(n_caught, n_defects),
        precision=share_of(n_caught, n_caught + n_rejected),
    )


def _rejected(candidate: Candidate, asked: Sequence[str], threshold: int) -> bool | None:
    """Return whether one of these critics rejects a candidate; None where one that might gave no score."""
    given = candidate.question.scores or {}
    if any(given[name] < threshold for name in asked if name in given):
        return True
    return False if all(name in given for name in asked) else None


def _reached_critics(candidate: Candidate) -> bool:
    question, loss = candidate.question, candidate.loss
    if question.answerable is False or not references(question):
        return False
    return loss is None or loss.reason in ("low_score", "not_criticised") or bool(question.scores)


def plant_wrong_answer(original: Candidate, others: Sequence[Candidate], rng: Generator) -> Candidate | None:
    """Return the candidate with another number in its answer or, without a number, another one's answer.

    The other question is of the same kind and language, its answer of similar length and of other words, and
    without a number too where there is such a one.
    """
    right = references(original.question)
    if _has_number(right[0]):
        return _planted(original, "wrong_answer", reference=_other_number(right[0], rng))
    given = {references(other.question)[0] for other in others if _alike(other, original)}
    pool = sorted(given, key=lambda text: (_has_number(text), abs(len(text) - len(right[0])), text))
    nearest = list(islice((text for text in pool if _differ(text, right)), NEAREST))
    if not nearest:
        return None
    nearest = [text for text in nearest if _has_number(text) == _has_number(nearest[0])]
    return _planted(original, "wrong_answer", reference=nearest[rng.integers(len(nearest))])


def plant_wrong_document(
    original: Candidate, others: Sequence[Candidate], rng: Generator
) -> Candidate | None:
    """Return the candidate with the passage of another document, one that does not hold its answer."""
    own = {passage.document_id for passage in original.passages}
    right = [tokenize(text) for text in references(original.question)]
    for at in rng.permutation(len(others)):
        passages = others[at].passages
        if own & {passage.document_id for passage in passages} or not _alike(others[at], original):
            continue
        if not any(_holds(passage, words) for passage in passages for words in right):
            planted = _planted(original, "wrong_document", evidence=None)
            return msgspec.structs.replace(planted, passages=passages)
    return None


def plant_dangling(original: Candidate, _others: Sequence[Candidate], _rng: Generator) -> Candidate | None:
    """Return the candidate with a pronoun for what it asks about; see dangling.py."""
    text = "\n".join(passage.text for passage in original.passages)
    question = dangle(original.question.question, text, _lang(original))
    return _planted(original, "dangling_reference", question=question)


def plant_trivial(original: Candidate, _others: Sequence[Candidate], rng: Generator) -> Candidate | None:
    """Return a question on the same passage that nobody needs answered, in its language.

    It gives its answer away or, where the passage has a title, asks for its language or a word of the title.
    """
    words = words_in(_lang(original))
    answer = references(original.question)[0]
    forms = [(words.given.replace("{answer}", answer), answer)]
    title = " ".join((original.passages[0].title or "").split()) if original.passages else ""
    if 0 < len(title) <= LONGEST_TITLE:
        asked, language = words.language
        forms += [(asked.replace("{title}", title), language)]
        forms += [(words.title.replace("{title}", title), title.split()[0])]
    question, reference = forms[rng.integers(len(forms))]
    return _planted(original, "trivial", question=question, reference=reference, evidence=None)


PLANTERS: dict[Defect, Plant] = {
    "wrong_answer": plant_wrong_answer,
    "wrong_document": plant_wrong_document,
    "dangling_reference": plant_dangling,
    "trivial": plant_trivial,
}


def _planted(original: Candidate, kind: Defect, **changed: object) -> Candidate:
    question = original.question
    changed |= {"id": f"{question.id}:{kind}", "scores": None, "metadata": {"planted": kind}}
    return Candidate(question=msgspec.structs.replace(question, **changed), passages=original.passages)


def _alike(other: Candidate, original: Candidate) -> bool:
    """Return whether two candidates are of one kind and language."""
    return (other.question.kind, _lang(other)) == (original.question.kind, _lang(original))


def _lang(candidate: Candidate) -> str | None:
    first = candidate.passages[0].lang if candidate.passages else None
    return candidate.question.lang or first


def _differ(text: str, right: Sequence[str]) -> bool:
    """Return whether an answer says something else than each of the right ones, by its words."""
    words = set(tokenize(text))
    if not words:
        return False
    for other in (set(tokenize(one)) for one in right):
        if words <= other or other <= words or len(words & other) / len(words | other) >= ALIKE:
            return False
    return True


def _other_number(text: str, rng: Generator) -> str:
    """Return a text with its first number changed: its last digit that is not 0 becomes another but 0."""
    start = next(at for at, character in enumerate(text) if character.isdecimal())
    end = start
    while end < len(text) and text[end].isdecimal():
        end += 1
    at = max((at for at in range(start, end) if _digit(text[at])), default=end - 1)
    old = _digit(text[at])
    new = (old + int(rng.integers(1, 9)) - 1) % 9 + 1 if old else int(rng.integers(1, 10))
    return text[:at] + chr(ord(text[at]) - old + new) + text[at + 1 :]


def _has_number(text: str) -> bool:
    return any(character.isdecimal() for character in text)


def _digit(character: str) -> int:
    return int(character) if character.isdecimal() else 0


def _holds(passage: Passage, words: Sequence[str]) -> bool:
    return f" {' '.join(words)} " in f" {' '.join(tokenize(passage.text))} "
