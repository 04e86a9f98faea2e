"""Verdicts of a second judge -> those that say something of the answer."""

from collections.abc import Mapping

from ragstone.kernel.errors import plural
from ragstone.kernel.judging import Judge
from ragstone.kernel.judging.lexical import LexicalJudge, alternatives
from ragstone.kernel.judging.matching import words
from ragstone.kernel.records import Question, references

# Words of a reference that right answers seldom repeat: in EVOUNA (Wang et al. 2023, labels of people)
# `containment` denies 79 of 81 right answers where it has this many, and 4 % where it has one or two.
LONG = 5
Key = tuple[str, str]


def telling_verdicts(
    judge: Judge | None, verdicts: Mapping[Key, bool], questions: Mapping[str, Question]
) -> dict[Key, bool]:
    """Return the verdicts without the denials of `containment` whose references all have LONG words.

    A judge that looks for the reference word for word denies right and wrong answers alike there, so that a
    denial tells nothing; what it grants does. verdicts: (question id, system) -> right; questions: by id.
    judge: None for people.
    """
    if not isinstance(judge, LexicalJudge) or judge.measure != "containment":
        return dict(verdicts)
    return {
        key: right
        for key, right in verdicts.items()
        if right or key[0] not in questions or not _is_long(judge, questions[key[0]])
    }


def untelling_note(second: str | None, n: int) -> list[str]:
    """Return that n denials of the second judge were not counted, and what to do; nothing for none."""
    if not n:
        return []
    return [
        f"{second} denies {plural(n, 'answer')} whose reference has {LONG} words or more. Right answers "
        "seldom repeat this many words, so these denials do not count. Name another second judge."
    ]


def _is_long(judge: LexicalJudge, question: Question) -> bool:
    texts = [words(text) for text in alternatives(references(question), judge.separator)]
    return bool(texts) and all(len(text) >= LONG for text in texts)
