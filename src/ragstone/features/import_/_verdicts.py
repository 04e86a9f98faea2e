"""Verdicts of other tools -> judgements, people's labels, and the answers that they are on."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from ragstone.kernel.errors import DataError, plural
from ragstone.kernel.records import Answer, Judgement, Label, Status, count_statuses
from ragstone.kernel.tables import check_output, keep_sources, parse_rows, read_rows, write_rows
from ragstone.kernel.tables.columns import CHOICE
from ragstone.kernel.tables.formats import READERS, ending_of, reader_of
from ragstone.kernel.tables.interchange.recognise import is_telemetry, sheet_rows
from ragstone.kernel.tables.interchange.verdicts import kinds_in

FORMAT = "verdicts"
RowT = TypeVar("RowT", Judgement, Label)
LOG = logging.getLogger(__name__)


class ImportedVerdicts(msgspec.Struct, frozen=True, kw_only=True):
    """How many rows of each kind an import found, and where they are.

    judges: judge -> its judgements. statuses: of all judgements. annotators: who labelled, without those that
    are not named. output: the files. not_written: what a single file of judgements has no room for.
    """

    judges: dict[str, int]
    statuses: dict[Status, int]
    n_labels: int
    annotators: list[str]
    n_answers: int
    output: list[str]
    not_written: dict[str, int]


class SourceRows(NamedTuple):
    """The objects of files, and which kinds of our rows they hold."""

    rows: list[dict[str, Any]]
    kinds: set[type]


def rows_with_verdicts(sources: Sequence[Path]) -> SourceRows | None:
    """Return the objects of files that hold verdicts of another tool, its traces, or both.

    None for other files. Raises DataError for lines of such files that are no objects.
    """
    if not all(path.is_file() and ending_of(path) in READERS for path in sources):
        return None
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    try:
        for path in sources:
            for number, raw in reader_of(path)(path):
                if isinstance(raw, dict):
                    rows.append(raw)
                else:
                    problems.append(f"{path}:{number}: not a JSON object ({raw}).")
    except DataError:  # it is said where the file is read for what it is
        if any(ending_of(path) == ".eval" for path in sources):
            raise
        return None
    kinds = kinds_in(rows, ", ".join(map(str, sources)))
    if not kinds and rows and all(map(is_telemetry, rows)):
        kinds = {Answer}
    if not kinds:
        return None
    if problems:
        raise DataError("\n".join(problems[:10]))
    return SourceRows(rows, kinds)


def _answers_in(rows: Sequence[dict[str, Any]]) -> list[Answer]:
    return parse_rows([dict(raw) for raw in sheet_rows(rows)], Answer)


def import_verdicts(
    found_rows: SourceRows, sources: Sequence[Path], output: Path, *, force: bool = False
) -> ImportedVerdicts:
    """Write what other tools' evaluators said, what people said there, and the answers that they speak of.

    found_rows: of the sources, see rows_with_verdicts. output: a folder, for judgements.jsonl, labels.jsonl
    and answers.jsonl; or a file, for the judgements alone.
    Raises DataError for verdicts that are broken, and where files exist and `force` is not given.
    """
    alone = ending_of(output) in READERS
    rows, kinds = found_rows
    judgements = _read(sources, rows, Judgement) if Judgement in kinds else []
    labels = _read(sources, rows, Label) if Label in kinds else []
    if CHOICE.get().where is not None and kinds != {Answer}:
        raise DataError(
            "--where chooses answers from traces, but these files have verdicts too. Leave it out."
        )
    answers: list[Answer] = []
    if kinds == {Answer}:
        answers += read_rows(sources[0], Answer) if len(sources) == 1 else _answers_in(rows)
    elif Answer in kinds:
        try:
            answers = _answers_in(rows)
        except DataError as mistake:  # spans without inputs and outputs hold none, and the verdicts count
            LOG.warning("The verdicts are without their answers: %s", str(mistake).partition("\n")[0])
    if alone and not judgements:
        told = f"{plural(len(labels), 'label')} by people" if labels else plural(len(answers), "answer")
        raise DataError(
            f"{', '.join(map(str, sources))}: {told}, and no verdict of an evaluator. Name a folder: "
            f"-o {output.with_suffix('')}."
        )
    found: dict[str, tuple[type, Sequence[Any]]] = {
        "judgements": (Judgement, judgements),
        "labels": (Label, labels),
        "answers": (Answer, answers),
    }
    paths = {kind: output if alone else output / f"{kind}.jsonl" for kind in found}
    wanted = {kind: kept for kind, (_, kept) in found.items() if kept and (not alone or kind == "judgements")}
    keep_sources([paths[kind] for kind in wanted], sources)
    for kind in wanted:
        check_output(paths[kind], force)
    for kind, kept in wanted.items():
        write_rows(paths[kind], kept, found[kind][0], force=force)
    judges: dict[str, int] = {}
    for row in judgements:
        judges[row.judge] = judges.get(row.judge, 0) + 1
    return ImportedVerdicts(
        judges=judges,
        statuses=count_statuses(judgements),
        n_labels=len(labels),
        annotators=sorted({label.annotator for label in labels if label.annotator}),
        n_answers=len(answers),
        output=[str(paths[kind]) for kind in wanted],
        not_written={kind: len(kept) for kind, (_, kept) in found.items() if kept and kind not in wanted},
    )


def _read(sources: Sequence[Path], rows: Sequence[dict[str, Any]], row_type: type[RowT]) -> list[RowT]:
    return list(read_rows(sources[0], row_type)) if len(sources) == 1 else parse_rows(list(rows), row_type)
