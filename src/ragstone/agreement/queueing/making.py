"""Rows of a run, and a plan -> a queue and the texts of its answers."""

from collections.abc import Mapping, Sequence

import msgspec

from ragstone.agreement.measured import by_judge
from ragstone.agreement.pairing import ADJUDICATOR
from ragstone.agreement.queueing.choosing import Choice, Chosen, choose
from ragstone.agreement.queueing.queue import NAME, Example, Item, Queue, Reference, Rubric, deal
from ragstone.errors import DataError
from ragstone.judging.classify import ClassifyJudge
from ragstone.judging.examples import of_criterion
from ragstone.judging.fields import Example as JudgeExample
from ragstone.judging.fields import PromptedJudge
from ragstone.judging.judge import Judge
from ragstone.judging.rubric import Criterion, RubricJudge
from ragstone.records import Answer, Judgement, Label, Question, references

EVIDENCE = "evidence"
"""The field of a text's metadata that holds the passages with the answer to the question."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What the owner of a queue decides; see Queue and Choice for the fields.

    scale: of the labels, None for the judge's.
    """

    name: str
    choice: Choice
    scale: tuple[float, float] | None = None
    annotators: list[str] = []
    overlap: float = 0.0
    each: int = 2
    reference: Reference = "folded"
    instructions: str | None = None


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that a queue is made from.

    labels: that are there already. evidence: question id -> passages that hold the answer.
    judge: the judge of the choice, for its rubric; None where its file is not to be had.
    """

    source: str
    judgements: Sequence[Judgement]
    answers: Sequence[Answer]
    questions: Mapping[str, Question] = {}
    labels: Sequence[Label] = ()
    evidence: Mapping[str, Sequence[str]] = {}
    judge: Judge | None = None


def make_queue(plan: Plan, material: Material) -> tuple[Queue, list[Answer]]:
    """Return a queue and its texts: the same for the same plan and rows.

    Raises DataError for a plan that cannot be carried out: as `choose` and `deal` do, for a name or a scale
    that is none, and where an answer to label is not among the answers.
    """
    if not NAME.fullmatch(plan.name):
        raise DataError(
            f"{plan.name!r} cannot be the name of a queue: take letters, digits, - and _, at most 60, such "
            "as harvest-2."
        )
    taken = next((name for name in plan.annotators if name.startswith(ADJUDICATOR)), None)
    if taken is not None:
        raise DataError(
            f"{taken!r} is no annotator: a label under such a name decides between those of others."
        )
    texts = {(row.question_id, row.system): row for row in material.answers}
    tags = {key: found for key, row in texts.items() if (found := _tags(row, material.questions))}
    chosen = choose(material.judgements, material.labels, plan.choice, tags)
    missing = [one.row for one in chosen if (one.row.question_id, one.row.system) not in texts]
    if missing:
        raise DataError(
            f"{len(missing)} of the {len(chosen)} answers to label are not among the answers of "
            f"{material.source}, the first of question {missing[0].question_id!r}, system "
            f"{missing[0].system!r}. Take a run that has its answers, or name their file."
        )
    first = chosen[0].row
    items = deal([_item(one) for one in chosen], plan.annotators, plan.overlap, plan.each)
    queue = Queue(
        name=plan.name,
        source=material.source,
        judge=first.judge,
        metric=first.metric,
        scale=_scale(plan, first),
        choice=plan.choice,
        annotators=list(dict.fromkeys(plan.annotators)),
        overlap=plan.overlap,
        each=plan.each,
        reference=plan.reference,
        instructions=plan.instructions or None,
        rubric=rubric_of(material.judge, first.metric) if material.judge else None,
        items=items,
    )
    return queue, [_text(texts[item.question_id, item.system], material) for item in items]


def judges_in(judgements: Sequence[Judgement]) -> list[tuple[str, str, tuple[float, float]]]:
    """Return judge, metric and scale of what a queue could be made for, in the order of the judgements."""
    found = {
        (judge.judge, judge.metric): next((row.scale for row in rows if row.scale), (0.0, 1.0))
        for judge, rows in by_judge(judgements).items()
    }
    return [(judge, metric, scale) for (judge, metric), scale in found.items()]


def rubric_of(judge: Judge, metric: str) -> Rubric | None:
    """Return what the judge is told of this metric, None where it is told nothing."""
    every = judge.criteria if isinstance(judge, RubricJudge) else []
    one = next((found for found in every if found.name == metric), None)
    criteria = [one] if one else every
    parts = [f"{found.name}: {found.description}" for found in criteria]
    text = "\n\n".join([*([judge.prompt.strip()] if isinstance(judge, PromptedJudge) else []), *parts])
    rubric = Rubric(
        text=text or None,
        grades=_grades(judge, criteria),
        examples=[_example(example, one) for example in judge.shown],
    )
    return None if rubric == Rubric() else rubric


def _grades(judge: Judge, criteria: Sequence[Criterion]) -> dict[str, str]:
    """Return what each grade means, where one criterion or the labels of a closed set say so."""
    if isinstance(judge, ClassifyJudge):
        return {f"{score:g}": label for label, score in judge.labels.items()}
    if len(criteria) != 1:
        return {}
    low, high = judge.scale
    words = criteria[0].grades
    step = (high - low) / (len(words) - 1)
    return {f"{low + step * place:g}": word for place, word in enumerate(words)}


def _example(example: JudgeExample, criterion: Criterion | None) -> Example:
    expected: object = example.expected
    reason: object = example.reason
    if criterion:
        expected, reason = of_criterion(expected, criterion.name), of_criterion(reason, criterion.name)
    given = {
        "question": example.question,
        "reference": " / ".join(_listed(example.reference)),
        "answer": example.answer,
        "contexts": "\n\n".join(example.contexts or []),
    }
    return Example(
        texts={name: text for name, text in given.items() if text},
        expected=_said(expected),
        reason=_said(reason),
    )


def _listed(reference: str | list[str] | None) -> list[str]:
    return [reference] if isinstance(reference, str) else reference or []


def _said(value: object) -> str:
    """Return a grade or a reason in words; of several criteria each by its name."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_said(one)}" for name, one in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _scale(plan: Plan, row: Judgement) -> tuple[float, float]:
    low, high = plan.scale or row.scale or (0.0, 1.0)
    if not low < high:
        raise DataError(
            f"a scale of {low:g} to {high:g}: give the lowest score, then a higher one, e.g. 1-5."
        )
    return (float(low), float(high))


def _tags(row: Answer, questions: Mapping[str, Question]) -> dict[str, str] | None:
    question = questions.get(row.question_id)
    return row.tags or (question.tags if question else None)


def _item(one: Chosen) -> Item:
    return Item(one.row.question_id, one.row.system, one.inclusion)


def _text(row: Answer, material: Material) -> Answer:
    """Return an answer with all that its annotator reads, and nothing else."""
    question = material.questions.get(row.question_id)
    passages = [*material.evidence.get(row.question_id, ())]
    reference = references(row) or (references(question) if question else [])
    return Answer(
        question_id=row.question_id,
        system=row.system,
        question=row.question or (question.question if question else None),
        answer=row.answer,
        error=row.error,
        reference=reference[0] if len(reference) == 1 else reference or None,
        contexts=row.contexts,
        tags=_tags(row, material.questions),
        metadata={EVIDENCE: passages} if passages else None,
    )
