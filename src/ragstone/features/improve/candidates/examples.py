"""Examples for a judge's prompt, from labelled answers: every grade, and what the judge gets wrong now."""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from ragstone.features.improve._thresholds import Flags
from ragstone.features.improve.candidates.racing import race
from ragstone.features.improve.candidates.rows import (
    CandidateResult,
    JudgeScores,
    LearningRows,
    reasons_of,
    untried,
)
from ragstone.kernel.engine.session import Session
from ragstone.kernel.judging import Judge
from ragstone.kernel.judging.classify import ClassifyJudge
from ragstone.kernel.judging.fields import Example
from ragstone.kernel.judging.inputs import gather_inputs
from ragstone.kernel.judging.one_call import OneCallJudge
from ragstone.kernel.records import Answer

SHOTS = 4
LONGEST = 2000  # characters of a row that becomes an example: it stands in every prompt
PARTS = ("question", "reference", "answer", "contexts")
NO_REASON = "People who read it graded it so."


def can_show(judge: Judge) -> str | None:
    """Return why labelled answers cannot become examples of a judge, or None."""
    if not isinstance(judge, OneCallJudge):
        return f"a judge of kind {judge.kind} shows no examples."
    if len(judge.metrics) > 1:
        return "each of its criteria is graded, but a label is one grade for the whole answer."
    other = next((name for name in judge.inputs if name not in PARTS), None)
    return f"an example has no {other}, which the judge reads." if other else None


async def example_candidates(
    judge: OneCallJudge, before: JudgeScores, rows: LearningRows, tuned_on: Sequence[str], session: Session
) -> list[CandidateResult]:
    """Return the judge with people's examples, in both orders: models lean on the first and the last.

    Each row is judged with examples from other groups. Fewer candidates where the budget ends.
    """
    folds = np.unique(rows.fold).tolist()
    candidates: list[CandidateResult] = []
    for name, backwards in (("examples", False), ("examples, other order", True)):
        judges = {
            fold: with_examples(judge, rows, before, rows.fold != fold, backwards=backwards) for fold in folds
        }
        whole = with_examples(
            judge, rows, before, np.ones(len(rows.answers), dtype=np.bool_), backwards=backwards
        )
        n = len(whole.examples) - len(judge.examples)
        made = f"{n} labelled answers as examples" + (", in the other order" if backwards else "")
        final = msgspec.structs.replace(whole, tuned_on=list(tuned_on))
        candidate = untried("examples", rows, name=name, made=made, judge=final)
        candidates.append(await race(candidate, judges.__getitem__, folds, rows, before, session))
        if candidates[-1].state == "over_budget":
            break
    return candidates


def with_examples(
    judge: OneCallJudge, rows: LearningRows, before: JudgeScores, chosen: Flags, *, backwards: bool
) -> OneCallJudge:
    """Return the judge with examples from the chosen rows after its own; the same rows give the same ones."""
    examples = list(_examples(judge, rows, before, chosen))[:SHOTS]
    examples = examples[::-1] if backwards else examples
    return msgspec.structs.replace(judge, examples=[*judge.examples, *examples], shots=None)


def _examples(
    judge: OneCallJudge, rows: LearningRows, before: JudgeScores, chosen: Flags
) -> Iterator[Example]:
    """Yield examples, the most instructive first: each grade in turn, by turns one that the judge got wrong.

    A row with a person's reason goes before one without. Each comes from a group of its own.
    """
    worth = rows.worths(before.scores, before.yes_from)
    order = np.random.default_rng(rows.seed).permutation(len(rows.answers))
    grades = np.unique(rows.human[chosen]).tolist()
    queues = {}
    for grade in grades:
        mine = [n for n in order.tolist() if chosen[n] and rows.human[n] == grade]
        mine.sort(key=lambda n: not _reason(rows, n))
        best = float(worth[mine].max())
        wrong = [n for n in mine if worth[n] < best]
        right = [n for n in mine if worth[n] == best]
        queues[grade] = (wrong, right)
    used: set[int] = set()
    for turn in range(SHOTS):
        for grade in grades:
            wrong, right = queues[grade]
            for n in (wrong + right) if turn % 2 == 0 else (right + wrong):
                if rows.group[n] in used:
                    continue
                example = _example(judge, rows, n, before)
                if example is not None:
                    used.add(int(rows.group[n]))
                    yield example
                    break


def _example(judge: OneCallJudge, rows: LearningRows, n: int, before: JudgeScores) -> Example | None:
    """Return a row as an example; None where it lacks an input, is too long, or its grade is no reply."""
    answer = rows.answers[n]
    inputs = gather_inputs(judge, answer)
    if isinstance(inputs, str) or sum(map(len, inputs.values())) > LONGEST:
        return None
    expected = _expected(judge, rows, n, before)
    if expected is None:
        return None
    texts = {name: _part(answer, name) for name in judge.inputs}
    example = Example(expected=expected, reason=_reason(rows, n) or NO_REASON, **texts)  # type: ignore[arg-type]
    tried = msgspec.structs.replace(judge, examples=[example], shots=None)
    return None if next(tried.problems(), None) else example


def _part(answer: Answer, name: str) -> object:
    if name == "contexts":
        return [context.text for context in answer.contexts or ()]
    return getattr(answer, name)


def _expected(
    judge: OneCallJudge, rows: LearningRows, n: int, before: JudgeScores
) -> bool | int | float | str | None:
    """Return people's grade as the reply has it; None where several replies have that score."""
    grade = float(rows.human[n])
    score = judge.scale[1 if grade else 0] if rows.unit.yes_no else grade
    if isinstance(judge, ClassifyJudge):
        labels = [label for label, value in judge.labels.items() if value == score]
        judged_label = before.judgements[n].label
        return labels[0] if len(labels) == 1 else judged_label if judged_label in labels else None
    if judge.kind == "boolean":
        return bool(score)
    return int(score) if score == int(score) else None


def _reason(rows: LearningRows, n: int) -> str | None:
    """Return what a person gave as the reason of the grade that counts."""
    return next(iter(reasons_of(rows, n)), None)
