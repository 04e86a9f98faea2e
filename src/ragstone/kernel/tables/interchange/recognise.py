"""Which tool wrote a file of results, by what stands in its rows: one table of formats, one way to tell them.

A file of a tool may hold answers, verdicts on them, or both. Answers are read as rows of an answer sheet;
verdicts of evaluators as judgements, and those of people as labels.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple

from ragstone.kernel.errors import ColumnsError
from ragstone.kernel.records import Answer, Judgement, Label
from ragstone.kernel.tables.columns import CHOICE
from ragstone.kernel.tables.interchange import marks, verdict_marks
from ragstone.kernel.tables.names import MESSAGES, fields_of

Numbered = tuple[int, Any]
"""A line, or the number of a row, and what stands there: an object, or the error in place of one."""

Reader = Callable[..., Iterator[Numbered]]
"""Takes the rows and the file's name, and what reads whole files of verdicts takes more: see verdicts.py."""


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


VERDICTS = "verdicts:read_verdicts"  # of a whole file whose first row is of a tool

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
            yield from reader_at(read)(together, where) if read else together
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
    return verdict_reader(raw) is not None


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
            if verdict_reader(raw) is None:
                break
            yield from reader_at(VERDICTS)([*before, *every], where, row_type, words)
            return
    yield from chain(before, every)


def verdict_reader(raw: Mapping[str, Any]) -> str | None:
    """Return what reads the verdicts of an object's tool, as `module:function`; None where it holds none."""
    return next((form.verdicts for form in FORMATS if form.verdicts and form.fits(raw)), None)


def reader_at(place: str) -> Reader:
    """Return what one of FORMATS names."""
    module, _, name = place.partition(":")
    found: Reader = getattr(import_module(f"{__package__}.{module}"), name)
    return found
