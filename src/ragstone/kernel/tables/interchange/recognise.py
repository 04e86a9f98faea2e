"""Which tool wrote a file of results, by what stands in its rows: one table of formats, one way to tell them.

A file of a tool may hold answers, verdicts on them, or both. Answers are read as rows of an answer sheet;
verdicts of evaluators as judgements, and those of people as labels.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from ragstone.kernel.errors import ColumnsError, DataError, plural
from ragstone.kernel.records import Answer, Judgement, Label
from ragstone.kernel.tables.columns import CHOICE, field_of
from ragstone.kernel.tables.interchange import marks, verdict_marks
from ragstone.kernel.tables.interchange.assessments import (
    Assessment,
    grade_in,
    judgement_rows,
    label_rows,
    no_evaluators,
    no_people,
    no_verdicts,
)
from ragstone.kernel.tables.labels import CRITERIA
from ragstone.kernel.tables.names import MESSAGES, fields_of, fold

LOG = logging.getLogger(__name__)

Numbered = tuple[int, Any]
"""A line, or the number of a row, and what stands there: an object, or the error in place of one."""

Reader = Callable[[Iterable[Numbered], str], Iterator[Numbered]]


class Format(NamedTuple):
    """What a row of a tool is like, and what then reads the rows: `module:function` of this folder.

    answers: yields rows of an answer sheet. verdicts: yields an `Assessment` for each verdict. Both take
    (number, row) and the file's name, and yield (number, what was read), errors as they are. None where the
    format holds no such thing. sheet: what columns of an answer sheet begin with, beside columns of verdicts.
    """

    fits: Callable[[Mapping[str, Any]], bool]
    answers: str | None = None
    verdicts: str | None = None
    sheet: str | None = None


# The first that fits, of those that hold what is asked for, is taken. Most files are of no tool, so a reader
# is imported when a row of its tool is there.
FORMATS: tuple[Format, ...] = (
    Format(marks.is_promptfoo, "promptfoo:read_promptfoo", "promptfoo:read_promptfoo_verdicts"),
    Format(marks.is_table, "promptfoo:refuse_table"),
    Format(marks.is_openinference, "openinference:read_openinference"),
    Format(verdict_marks.is_telemetry, verdicts="events:read_events"),
    Format(marks.is_langfuse, "langfuse:read_langfuse"),
    Format(verdict_marks.is_scored_trace, verdicts="langfuse:read_scores"),
    Format(marks.is_run, "runs:read_runs"),
    Format(verdict_marks.is_run_or_feedback, verdicts="runs:read_feedback"),
    Format(verdict_marks.is_mlflow, "mlflow:read_mlflow", "mlflow:read_assessments"),
    Format(verdict_marks.is_azure, verdicts="azure:read_azure", sheet="inputs."),
    Format(verdict_marks.is_phoenix_evals, verdicts="phoenix_evals:read_phoenix_evals", sheet="context."),
    Format(marks.is_deepeval, "samples:read_deepeval", "graded:read_deepeval_verdicts"),
    Format(marks.is_inspect, "samples:read_inspect", "graded:read_inspect_verdicts"),
    Format(marks.is_precomputed, verdicts="graded:read_precomputed"),
    Format(marks.is_ragas, "samples:read_ragas", "graded:read_ragas_verdicts"),
    Format(marks.is_eee_instance, "graded:read_eee_answers", "graded:read_eee_verdicts"),
    Format(marks.is_eee_record, "graded:refuse_record", "graded:refuse_record"),
    Format(marks.is_conversation, "conversations:read_conversations"),
)


# A row of these columns alone is of no tool; a conversation may be.
OURS = frozenset(fields_of(Answer)) - frozenset(MESSAGES)


def is_result(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is, by itself, what a tool has found, whatever lists there are in it."""
    return any(form.fits(raw) for form in FORMATS)


def is_trace(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is part of a trace: a span or a batch of them, a trace, an observation, a run."""
    return marks.is_openinference(raw) or marks.is_langfuse(raw) or marks.is_run(raw)


def is_telemetry(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a span, or a batch of spans or log events in OTLP JSON."""
    return marks.is_openinference(raw)


def rows_of_tools(
    rows: Iterable[Numbered], where: str, row_type: type, words: Mapping[str, float] = {}
) -> Iterator[Numbered]:
    """Yield the rows of a type that results of other tools hold; any other rows as they are.

    where: the file, for messages. words: label in small letters -> score, for verdicts that are labels.
    Raises DataError for a file of a known tool in which there is nothing of the kind.
    """
    if row_type is Answer:
        return answers_in(rows, where)
    if row_type is Judgement or row_type is Label:
        return _verdicts_in(rows, where, row_type, words)
    return iter(rows)


def answers_in(rows: Iterable[Numbered], where: str) -> Iterator[Numbered]:
    """Yield the rows of an answer sheet that results of another tool hold; any other rows as they are.

    where: the file, for messages. Raises DataError for a file of a known tool in which nothing was asked.
    """
    every = iter(rows)
    before: list[Numbered] = []
    for number, raw in every:
        before.append((number, raw))
        if isinstance(raw, dict):
            check_filtered(raw, where)
            tools = () if raw.keys() <= OURS else FORMATS
            read = next((form.answers for form in tools if form.answers and form.fits(raw)), None)
            together = chain(before, every)
            yield from _reader(read)(together, where) if read else together
            return
    yield from before


def check_filtered(raw: Mapping[str, Any], where: str) -> None:
    """Raise ColumnsError where the command line has a filter of traces, and a file's first row is of none."""
    if CHOICE.get().where is not None and not is_trace(raw):
        raise ColumnsError(
            f"{where}: --where chooses among traces, but these rows are not traces. Leave it out."
        )


def is_of_tool(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is of a tool whose files may hold verdicts."""
    return _verdict_reader(raw) is not None


def kinds_in(rows: Sequence[Mapping[str, Any]], where: str) -> set[type]:
    """Return which rows of ours objects of other tools hold: Judgement, Label, and beside these Answer.

    where: the file, for messages. Empty where there is no verdict, of an evaluator or of a person.
    """
    if not any(map(is_of_tool, rows)):
        return set()
    read = [one for _, one in _assessed(enumerate(rows, 1), where) if isinstance(one, Assessment | dict)]
    found: set[type] = {
        Judgement if isinstance(one, dict) or one.by == "evaluator" else Label
        for one in read
        if isinstance(one, dict) or one.by == "evaluator" or grade_in(one) is not None
    }
    return found | {Answer} if found and any(sheet_rows(rows)) else found


def sheet_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield those of a tool's objects that hold answers; of a sheet with verdicts in columns, the sheet."""
    for raw in rows:
        form = next((form for form in FORMATS if form.fits(raw) and (form.answers or form.sheet)), None)
        if form is not None and form.answers:
            yield raw
        elif form is not None and form.sheet:
            yield {
                name.removeprefix(form.sheet): value
                for name, value in raw.items()
                if not name.startswith("outputs.") and not name.endswith(("_execution_details", "_score"))
            }


def _verdicts_in(
    rows: Iterable[Numbered], where: str, row_type: type, words: Mapping[str, float]
) -> Iterator[Numbered]:
    """Yield the fields of judgements or labels, for each verdict that a file of other tools holds.

    Such a file is read as a whole, for a verdict may come before what it is on. One whose first row is of no
    known tool, or that holds no verdict, is passed on row by row.
    """
    every = iter(rows)
    before: list[Numbered] = []
    for number, raw in every:
        before.append((number, raw))
        if isinstance(raw, dict):
            if _verdict_reader(raw) is None:
                break
            yield from _assessments([*before, *every], where, row_type, words)
            return
    yield from chain(before, every)


def _assessments(
    rows: list[Numbered], where: str, row_type: type, words: Mapping[str, float]
) -> Iterator[Numbered]:
    found = [*_assessed(rows, where)]
    first = next(raw for _, raw in rows if isinstance(raw, dict))
    assessments = [one for _, one in found if isinstance(one, Assessment)]
    mistakes = [(number, one) for number, one in found if not isinstance(one, Assessment)]
    if any(isinstance(one, dict) for _, one in mistakes):
        yield from _beside_ours(assessments, mistakes, where, row_type, words)
        return
    if not assessments:
        if row_type is Judgement and not mistakes and any(sheet_rows([first])):
            raise no_verdicts(where)
        yield from rows
        return
    if row_type is Judgement:
        if all(one.by == "person" for one in assessments):
            raise no_evaluators(where, len(assessments))
        yield from chain(judgement_rows(assessments, where, words), mistakes)
        if all(grade_in(one) is None for one in assessments if one.by == "person"):
            yield from label_rows(assessments, where)  # none, and it tells why
        return
    if marks.is_precomputed(first):  # scores for Inspect: of people, where they are given as labels
        assessments = [msgspec.structs.replace(one, by="person", name="rating") for one in assessments]
    if all(one.by == "evaluator" for one in assessments):
        if any(sheet_rows([first])) and any(
            fold(name) in CRITERIA or field_of(name, Label) == "score" for name in first
        ):
            yield from rows  # a sheet with people's scores beside, in columns of its own
            return
        raise no_people(where, assessments)
    yield from chain(label_rows(assessments, where), mistakes)


def _beside_ours(
    assessments: list[Assessment],
    found: list[Numbered],
    where: str,
    row_type: type,
    words: Mapping[str, float],
) -> Iterator[Numbered]:
    """Yield what a file holds beside judgements that Ragstone exported; read for these, them as they were."""
    n_ours = sum(isinstance(one, dict) for _, one in found)
    people = [one for one in assessments if one.by == "person"]
    if row_type is Judgement:
        others = [one for one in assessments if one.by == "evaluator"]
        yield from chain(_latest(found, where), judgement_rows(others, where, words) if others else ())
    elif people:
        mistakes = ((number, one) for number, one in found if not isinstance(one, dict))
        yield from chain(label_rows(people, where), mistakes)
    else:
        raise DataError(
            f"{where}: {plural(n_ours, 'judgement')} that Ragstone exported, but no label by a person. Give "
            "people's labels in another file."
        )


def _latest(found: list[Numbered], where: str) -> Iterator[Numbered]:
    """Yield judgements that Ragstone exported, each once; tells (logging) how many came again."""
    latest = {
        tuple(str(one.get(name)) for name in _JUDGED) if isinstance(one, dict) else (at,): (number, one)
        for at, (number, one) in enumerate(found)
    }
    if n_again := len(found) - len(latest):
        LOG.warning(
            "%s: %s: the latest of each counts.",
            where,
            "1 judgement repeats an earlier one"
            if n_again == 1
            else f"{n_again:,} judgements repeat earlier ones",
        )
    yield from latest.values()


_JUDGED = ("question_id", "system", "judge", "metric", "model", "prompt_version")


def _assessed(rows: Iterable[Numbered], where: str) -> Iterator[Numbered]:
    """Yield the verdicts in rows, which may be of several tools, as `Assessment`; mistakes as they are."""
    by_reader: dict[str, list[Numbered]] = {}
    for number, raw in rows:
        reader = _verdict_reader(raw) if isinstance(raw, dict) else None
        if reader is not None:
            by_reader.setdefault(reader, []).append((number, raw))
        elif isinstance(raw, dict):
            yield (
                number,
                ValueError(
                    "it is of no known tool, but the file began with a row of one. It has: "
                    f"{', '.join(map(str, raw))[:200]}. Remove it, or put it into a separate file."
                ),
            )
        else:
            yield number, raw
    for reader, mine in by_reader.items():
        yield from _reader(reader)(mine, where)


def _verdict_reader(raw: Mapping[str, Any]) -> str | None:
    return next((form.verdicts for form in FORMATS if form.verdicts and form.fits(raw)), None)


def _reader(place: str) -> Reader:
    module, _, name = place.partition(":")
    found: Reader = getattr(import_module(f"{__package__}.{module}"), name)
    return found
