"""To which answers a metric applies: one rule for all of its judges, of words and of models.

What a judge lacks (a reference, contexts) is said by its inputs. Here is what an answer must have to be
measured at all. A judge that is a function of the user's decides for itself.
"""

from collections.abc import Callable, Mapping, Sequence

from ragstone.kernel.judging.finding import Finding
from ragstone.kernel.judging.inputs import texts_of
from ragstone.kernel.judging.matching import words
from ragstone.kernel.records import Answer

NOTHING_STATED = "the {text} states nothing that could be checked"
BY_DEFINITION = (
    f"{NOTHING_STATED}, and nothing was retrieved: by the definition of the method the score is 1, which "
    "says nothing of it"
)


def states_nothing(answer: Answer) -> Finding | None:
    """Return the finding on an answer that is empty, or each of whose sentences is a refusal; else None.

    A refusal that goes on ("I am not sure. Urea is used.") states something. Without any context either, the
    metadata hold the score that the method gives by definition.
    """
    from ragstone.kernel.judging.lexical import no_refusal
    from ragstone.kernel.judging.refusals import SENTENCE

    if any(words(sentence) and no_refusal(sentence) for sentence in SENTENCE.split(answer.answer)):
        return None
    retrieved = any(text.strip() for text in texts_of(answer.contexts))
    return Finding(
        score=None,
        status="not_applicable",
        rationale=(NOTHING_STATED if retrieved else BY_DEFINITION).format(text="answer"),
        metadata=None if retrieved else {"by_definition": 1.0},
    )


RULES: Mapping[str, Callable[[Answer], Finding | None]] = {"faithfulness": states_nothing}
"""Metric -> the finding on an answer that it does not apply to, None for one that it does."""


def unfit(metric: str, inputs: Sequence[str], answer: Answer) -> Finding | None:
    """Return the finding on an answer that judges of a metric are not for; inputs: what the judge reads."""
    rule = RULES.get(metric)
    return rule(answer) if rule and "answer" in inputs else None
