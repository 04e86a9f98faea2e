"""Results of other tools -> judgements and labels: the verdicts of evaluators, and those of people."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from ragstone.kernel.errors import DataError, plural
from ragstone.kernel.records import Answer, Judgement, Label
from ragstone.kernel.tables.columns import field_of
from ragstone.kernel.tables.interchange import marks
from ragstone.kernel.tables.interchange.assessments import (
    Assessment,
    grade_in,
    judgement_rows,
    label_rows,
    no_evaluators,
    no_people,
    no_verdicts,
)
from ragstone.kernel.tables.interchange.recognise import (
    Numbered,
    is_of_tool,
    reader_at,
    sheet_rows,
    verdict_reader,
)
from ragstone.kernel.tables.labels import CRITERIA
from ragstone.kernel.tables.names import fold

LOG = logging.getLogger(__name__)


def read_verdicts(
    rows: list[Numbered], where: str, row_type: type, words: Mapping[str, float]
) -> Iterator[Numbered]:
    """Yield the fields of judgements or labels, for each verdict in the rows of a file of a tool."""
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
        reader = verdict_reader(raw) if isinstance(raw, dict) else None
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
        yield from reader_at(reader)(mine, where)


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
