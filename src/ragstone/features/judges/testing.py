"""What a judge sends to its model, and a first try of it: on its own examples, on easy rows, on a sheet."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec
import numpy as np

from ragstone.features.judges._easy import EASY, Expectation, easy_answer, easy_rows, is_met
from ragstone.kernel.config import Settings
from ragstone.kernel.embedding.model import Role, Vectors
from ragstone.kernel.engine.call_log import CallLog
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.session import PLAIN, Session, SessionOptions, run_in_session
from ragstone.kernel.errors import ModelError
from ragstone.kernel.judging import Judge, JudgeContext, judge_answer
from ragstone.kernel.judging.fields import Example, JudgeFields
from ragstone.kernel.judging.group import rows_of_group
from ragstone.kernel.judging.one_call import OneCallJudge
from ragstone.kernel.llm import Prompt, Reply
from ragstone.kernel.llm.stub_reply import stub_reply
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.stages.judge import judge_context, judge_row


class ShownTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One call as the model gets it. schema: what endpoints that know schemas hold the reply to."""

    messages: list[dict[str, str]]
    schema: dict[str, Any] | None
    temperature: float | None
    max_tokens: int | None


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """A judgement of a row with what was expected of it.

    row: what it is, such as `example 2` or `easy: right`. expected, given: a score, a label, true or false;
    of easy rows `high` or `low` (the half of the scale) is expected. met: whether an easy row went as
    expected; None for the others.
    """

    row: str
    metric: str
    status: str
    expected: str | None = None
    given: str | None = None
    reason: str | None = None
    met: bool | None = None


class JudgeTest(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a try. unscored: judgements that failed; wrong: easy rows that went otherwise."""

    judge: str
    model: str
    rows: list[Tried]
    unscored: int
    wrong: int
    calls: Calls


def prompts_of(judge: Judge, given: Sequence[Answer] = ()) -> list[ShownTrial]:
    """Return the calls that a judge would make for a row, in their order, each once; none is made.

    given: the rows to choose from; default the easy ones. The row is the first for which a model is asked: a
    cascade may decide others without. Empty where none is.
    Calls that follow from a reply (the check of statements) are shown with a made-up one. The code in them
    is not that of any project.
    """
    if not judge.needs_model:
        return []
    heard: dict[Prompt, None] = {}

    async def ask(prompt: Prompt) -> Reply:
        heard[msgspec.structs.replace(prompt, sample=0)] = None
        return stub_reply(prompt)

    async def embed(texts: Sequence[str], _role: Role) -> list[Vectors]:
        return [np.ones(1, dtype=np.float32) for _text in texts]

    async def work() -> None:
        others = dict.fromkeys(judge.models, ask)
        context = JudgeContext(ask=ask, others=others, secret=b"of no project", embed=embed)
        easy = (msgspec.structs.replace(easy_answer(name), question_id="easy", system=name) for name in EASY)
        rows = list(given or easy)
        for row in rows_of_group([judge], rows):
            with suppress(ModelError):  # made-up replies have no probabilities
                await judge_row([judge], row, context, CallLog())
            if heard:
                return

    run_sync(work())
    return [_shown(prompt) for prompt in heard]


def _shown(prompt: Prompt) -> ShownTrial:
    return ShownTrial(
        messages=[{"role": message.role, "content": message.content} for message in prompt.messages],
        schema=None if prompt.schema is None else msgspec.json.decode(prompt.schema),
        temperature=prompt.default_temperature if prompt.temperature is None else prompt.temperature,
        max_tokens=prompt.max_tokens,
    )


def command_to_try(name: str, judge: Judge, sheet: Path | None = None) -> str:
    """Return the command that tries a judge, with what it lacks: a model, and rows where it has none to try.

    name: as the command takes it. sheet: that was named, if any.
    """
    command = ["ragstone judges test", quote(name)]
    if sheet is not None:
        command.append(quote(str(sheet)))
    elif not (easy_rows(judge) or (isinstance(judge, OneCallJudge) and judge.examples)):
        command.append("ANSWERS")
    return " ".join([*command, *(["--model MODEL"] if judge.asks_default else [])])


def try_judge(
    judge: Judge,
    settings: Settings,
    sheet: Sequence[Answer] = (),
    how: SessionOptions = PLAIN,
) -> JudgeTest:
    """Judge each of the judge's examples, easy rows, and the rows of a sheet.

    An example is judged by the judge without it, so that it is not shown to the model. Easy rows are judged
    where the metric makes known what to expect. A judge that compares systems has the sheet alone. Raises
    ModelError, DataError.
    """

    async def work(session: Session) -> JudgeTest:
        context = await judge_context(session, [judge])
        rows = [*await _examples(judge, context, session), *await _easy(judge, context, session)]
        rows += await _sheet(judge, sheet, context, session)
        return JudgeTest(
            judge=judge.name,
            model=context.model,
            rows=rows,
            unscored=sum(row.status not in ("scored", "not_applicable") for row in rows),
            wrong=sum(row.met is False for row in rows),
            calls=session.calls(),
        )

    return run_in_session(settings, how, work)


async def _examples(judge: Judge, context: JudgeContext, session: Session) -> list[Tried]:
    if not isinstance(judge, OneCallJudge):
        return []

    async def one(number: int) -> list[Judgement]:
        rest = [example for n, example in enumerate(judge.examples) if n != number]
        without = msgspec.structs.replace(judge, examples=rest)
        return await judge_answer(without, judge.examples[number].as_answer(), context)

    judged = await session.each("examples", one, range(len(judge.examples)))
    return [
        _tried(f"example {number + 1}", judge, row, expected.get(row.metric))
        for number, rows in enumerate(judged)
        for expected in [_expected(judge, judge.examples[number])]
        for row in rows
    ]


def _expected(judge: OneCallJudge, example: Example) -> dict[str, str]:
    """Return metric -> what an example expects."""
    finding = judge.finding_of(judge.reply_of(example.expected, example.reason))
    parts = {part.metric: f"{part.score:g}" for part in finding.parts}
    return {judge.measures: _said(judge, finding.label, finding.score) or "", **parts}


async def _easy(judge: Judge, context: JudgeContext, session: Session) -> list[Tried]:
    async def one(row: tuple[str, Answer, Expectation]) -> list[Judgement]:
        return await judge_answer(judge, row[1], context)

    rows = easy_rows(judge)
    judged = await session.each("easy rows", one, rows)
    return [
        _tried(f"easy: {name}", judge, first, expected, met=is_met(expected, first, judge.scale))
        for (name, _answer, expected), (first, *_parts) in zip(rows, judged, strict=True)
    ]


async def _sheet(
    judge: Judge, sheet: Sequence[Answer], context: JudgeContext, session: Session
) -> list[Tried]:
    if not sheet:
        return []
    work = partial(judge_row, [judge], context=context, call_log=CallLog())
    judged = await session.each("sheet", work, list(rows_of_group([judge], sheet)))
    return [
        _tried(f"{row.question_id} ({row.system})", judge, row)
        for judgements, _exchanges in judged
        for row in judgements
    ]


def _tried(
    name: str, judge: Judge, row: Judgement, expected: str | None = None, *, met: bool | None = None
) -> Tried:
    return Tried(
        row=name,
        metric=row.metric,
        status=row.status,
        expected=expected,
        given=_said(judge, row.label, row.score),
        reason=row.error or row.rationale,
        met=met,
    )


def _said(judge: JudgeFields, label: str | None, score: float | None) -> str | None:
    """Return what a judge says of a row, in the words of its kind; None if it gave no score."""
    return None if score is None else judge.said(score, label)
