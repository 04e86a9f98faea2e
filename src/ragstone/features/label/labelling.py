"""Which answers to label next, so that few labels tell most and corrected means stay right."""

import hashlib
from collections.abc import Iterable, Sequence

import msgspec

from ragstone.features.agree import gap_lines, gap_rows, spec_gaps
from ragstone.features.label._choosing import (
    EQUAL,
    SPREAD_EVENLY,
    AnswerDraw,
    AnswerWay,
    DrawnAnswer,
    choose,
    choose_left,
)
from ragstone.features.label._pairs import ComparedSide, both_answers, choose_pairs, compared_sides
from ragstone.features.label._policies import keep_policy, tidied
from ragstone.features.label._policies import policy_digest as policy_digest
from ragstone.kernel.config import Settings
from ragstone.kernel.decimals import scale_text
from ragstone.kernel.errors import ConfigError, DataError, checks_arguments, takes_rows
from ragstone.kernel.records import Answer, Judgement, Label, Row
from ragstone.kernel.runs.joined import FinishedRun


class ToLabel(Row, frozen=True, kw_only=True):
    """An answer with an empty score. With the score filled in it is a label.

    scale: of the score, in words: `0 to 1`.
    inclusion and queue: its chance in the draw, and which draw that was, where the chances were not equal.
    policy: the digest of the instructions. again: chosen because grades differed on it, so it is no sample.
    chosen: the filter that chose it, so it is none either.
    run: whose answer it is, where two runs name their system alike.
    """

    question_id: str
    system: str
    score: float | None
    metric: str
    scale: str | None = None
    question: str | None = None
    answer: str | None = None
    reference: str | list[str] | None = None
    inclusion: float | None = None
    queue: str | None = None
    policy: str | None = None
    run: str | None = None
    again: bool | None = None
    chosen: str | None = None


def keep_instructions(settings: Settings, text: str) -> str:
    """Keep a text that annotators are shown with the project's policies; return its digest."""
    return keep_policy(settings.path(settings.workbench.store) / "policies", tidied(text))


@takes_rows(judgements=Judgement, labels=Label, answers=Answer)
def next_to_label(
    judgements: Iterable[Judgement],
    labels: Iterable[Label] = (),
    *,
    n: int,
    answers: Iterable[Answer] = (),
    by: AnswerWay = "stratified",
    strata: Sequence[str] = SPREAD_EVENLY,
    seed: int = 0,
) -> list[ToLabel]:
    """Return n of the answers without a label, fewer if there are not so many, in random order.

    by: `stratified`, the default, and `random` give each the same chance, so that corrected means hold, and
    weights are not needed. Stratified ones are spread evenly over the systems and over the scores of the
    judge (or over other strata, a tag's name among them): every (rows / n)-th of the rows in that order,
    from a random start. That mirrors all rows better than plain chance does. `uncertain`, `disagreement` and
    `ppi` give unequal chances, which stand beside each row as `inclusion` and must stay there: corrected
    means need them. Since the order returned is
    random, the first half of them is as good a sample as all. The judge is the first that asks a model, else
    the first; its metric is the one to label. Answers to questions that it was tuned on are left out: their
    labels would not count. answers: where the texts to read, and tags, come from. Raises DataError if all
    have labels, and where nothing tells the answers apart in the way asked for; ConfigError for another way
    (pairs_to_label, gaps_to_label and chosen_to_label choose in their own) and for an n below 1.
    """
    _check_count(n)
    texts = {(row.question_id, row.system): row for row in answers}
    choice = AnswerDraw(by=by, n=n, strata=tuple(strata), seed=seed)
    tags = {key: row.tags for key, row in texts.items() if row.tags}
    chosen = choose(judgements, labels, choice, tags)
    draw = None if by in EQUAL else _draw_name(choice, chosen)
    return [_to_label(drawn, texts.get((drawn.row.question_id, drawn.row.system)), draw) for drawn in chosen]


@checks_arguments
@takes_rows(labels=Label)
def chosen_to_label(
    run: FinishedRun,
    where: str,
    labels: Iterable[Label] = (),
    *,
    n: int | None = None,
    metric: str | None = None,
    seed: int = 0,
) -> list[ToLabel]:
    """Return the answers of a run that a filter leaves and that have no label yet, in random order.

    where: as of FinishedRun.where. n: how many at most, drawn at random; None for all. The rows carry the
    filter as `chosen`: means and agreement with a judge would be those of the choice, so `agree` and
    `compare` do not take their labels. Raises DataError where nothing is left to label, ConfigError for an n
    below 1.
    """
    if n is not None:
        _check_count(n)
    labelled = list(labels)
    left = [(row["question_id"], row["system"]) for row in run.where(where)]
    choice = AnswerDraw(by="chosen", n=len(left) if n is None else n, metric=metric, seed=seed, where=where)
    texts = {(row.question_id, row.system): row for row in run.answers}
    return [
        msgspec.structs.replace(
            _to_label(drawn, texts.get((drawn.row.question_id, drawn.row.system)), None), chosen=where
        )
        for drawn in choose_left(run.judgements, labelled, choice, left)
    ]


def _check_count(n: int) -> None:
    if n < 1:
        raise ConfigError(f"n is {n}: ask for 1 or more.")


def _draw_name(choice: AnswerDraw, chosen: Sequence[DrawnAnswer]) -> str:
    """Return the same name for the same draw."""
    keys = [(drawn.row.question_id, drawn.row.system, drawn.inclusion) for drawn in chosen]
    digest = hashlib.sha256(msgspec.json.encode([choice, keys])).hexdigest()
    return f"{choice.by}-{digest[:8]}"


@takes_rows(judgements=Judgement, labels=Label, answers=Answer)
def gaps_to_label(
    judgements: Iterable[Judgement],
    labels: Iterable[Label],
    *,
    n: int = 10,
    answers: Iterable[Answer] = (),
    metric: str | None = None,
    policy: str | None = None,
    seed: int = 0,
) -> list[ToLabel]:
    """Return up to n answers of the gaps that spec_gaps finds, to be labelled again, in random order.

    The most telling gap comes first; of one that has more rows they are drawn. The rows carry `again`: they
    were chosen because grades differ on them, so their labels say how many flip, and nothing of all answers.
    Raises DataError where no gap is found, ConfigError for an n below 1.
    """
    _check_count(n)
    texts = {(row.question_id, row.system): row for row in answers}
    judged = list(judgements)
    reports = spec_gaps(judged, labels, metric=metric, policy=policy, seed=seed)
    report = next((report for report in reports if report.gaps), None)
    if report is None:
        raise DataError(
            "no gap to label again: "
            + (gap_lines(reports[0]).lead if reports else "no label matches a judged answer.")
        )
    scale = next((row.scale for row in judged if row.metric == report.metric and row.scale), None)
    return [
        ToLabel(
            question_id=row.question_id,
            system=row.system,
            score=None,
            metric=report.metric,
            scale=scale_text(*scale) if scale else None,
            question=text.question if text else None,
            answer=text.answer if text else None,
            reference=text.reference if text else None,
            again=True,
        )
        for row in gap_rows(report, n, seed)
        for text in [texts.get((row.question_id, row.system))]
    ]


@takes_rows(a=Judgement, b=Judgement, labels=Label, answers_a=Answer, answers_b=Answer)
def pairs_to_label(
    a: Iterable[Judgement],
    b: Iterable[Judgement] | None = None,
    labels: Iterable[Label] = (),
    *,
    n: int,
    answers_a: Iterable[Answer] = (),
    answers_b: Iterable[Answer] = (),
    system_a: str | None = None,
    system_b: str | None = None,
    runs: tuple[str, str] = ("A", "B"),
    metric: str | None = None,
    seed: int = 0,
) -> list[ToLabel]:
    """Return both systems' answers to n questions, those whose labels narrow the systems' difference most.

    a, b: judgements of two runs; b=None for two systems of one. system_a, system_b: which of each, where
    there are several. The answers to a question stand beside each other, either one first; questions are in
    random order, so those labelled so far are a sample wherever one stops. `inclusion` is the chance of the
    question, and must stay there. Questions count whose two answers the same judge has scored. labels: of 20
    questions or more tell where the judge's difference errs; without them it is guessed from what the judge
    says of its own doubt, from how far its scores lie apart, and answers that are the same words are hardly
    ever drawn (answers_a, answers_b). runs: what `run` says where both systems have one name. Raises
    DataError where the draw cannot be made: no shared question, judge or system; ConfigError for an n below
    1.
    """
    _check_count(n)
    rows_a, rows_b = list(a), None if b is None else list(b)
    names = compared_sides(rows_a, rows_b, system_a, system_b)
    texts_a = {(row.question_id, row.system): row for row in answers_a}
    texts_b = texts_a if b is None else {(row.question_id, row.system): row for row in answers_b}
    named = runs if names[0] == names[1] else (None, None)
    sides = (
        ComparedSide(system=names[0], judgements=rows_a, answers=texts_a, run=named[0]),
        ComparedSide(
            system=names[1], judgements=rows_a if rows_b is None else rows_b, answers=texts_b, run=named[1]
        ),
    )
    choice = AnswerDraw(by="difference", n=n, metric=metric, seed=seed, systems=names)
    drawn = both_answers(choose_pairs(*sides, labels, choice), seed)
    name = _draw_name(choice, [answer for answer, _ in drawn])
    return [
        msgspec.structs.replace(
            _to_label(answer, sides[is_b].answers.get((answer.row.question_id, answer.row.system)), name),
            run=sides[is_b].run,
        )
        for answer, is_b in drawn
    ]


def _to_label(drawn: DrawnAnswer, answer: Answer | None, draw: str | None) -> ToLabel:
    return ToLabel(
        question_id=drawn.row.question_id,
        system=drawn.row.system,
        score=None,
        metric=drawn.row.metric,
        scale=scale_text(*drawn.row.scale) if drawn.row.scale else None,
        question=answer.question if answer else None,
        answer=answer.answer if answer else None,
        reference=answer.reference if answer else None,
        inclusion=drawn.inclusion,
        queue=draw,
    )
