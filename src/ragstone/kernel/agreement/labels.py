"""Labels as people bring them -> labels of the metrics that were judged, with the texts they speak of."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.judging.conversation import reply_notes
from ragstone.kernel.records import Answer, Label
from ragstone.kernel.tables.columns import CHOICE
from ragstone.kernel.tables.names import fold, question_key

USUAL = "correctness"
"""What people mean who label answers right or wrong, and name no metric."""


@contextmanager
def columns_of_run(judgements: Path) -> Iterator[None]:
    """Read files as the sheet of a run was read: with the columns that were named for it.

    judgements: the run's folder, or the file of judgements in it. What is named now comes first, and a column
    that a file lacks was meant for the other one.
    """
    folder = judgements if judgements.is_dir() else judgements.parent
    now = CHOICE.get()
    try:
        numbers = msgspec.json.decode((folder / "summary.json").read_bytes(), type=_Columns)
    except (OSError, msgspec.DecodeError):
        numbers = _Columns()
    token = CHOICE.set(msgspec.structs.replace(now, columns={**numbers.columns, **now.columns}))
    try:
        yield
    finally:
        CHOICE.reset(token)


class _Columns(msgspec.Struct, frozen=True):
    """What a run's summary says of the columns of its sheet."""

    columns: dict[str, str] = {}


def with_metrics(labels: Sequence[Label], metrics: Collection[str]) -> tuple[list[Label], str | None]:
    """Return labels with their metrics, and what is to be told of it.

    A label that names none speaks of the metric after which its column is named, else of correctness, where
    that was judged beside others; else of whatever metric it is compared with.
    """
    known = {fold(metric): metric for metric in metrics}
    usual = USUAL if USUAL in metrics and len(metrics) > 1 else None
    named = [
        msgspec.structs.replace(
            label,
            metric=known.get(fold(label.metric), label.metric)
            if label.metric
            else _criterion(label, known) or usual,
        )
        for label in labels
    ]
    guessed = [
        named_label
        for named_label, label in zip(named, labels, strict=True)
        if label.metric is None and named_label.metric == usual
    ]
    if usual is None or all(_criterion(label, known) for label in guessed):
        return named, None
    others = ", ".join(sorted(set(metrics) - {USUAL}))
    return named, (
        f"The labels name no metric and are taken for {USUAL}. To compare them with another, use --metric: "
        f"{others}."
    )


def _criterion(label: Label, known: dict[str, str]) -> str | None:
    """Return the metric that the column of a label is named after, None where it is named after none."""
    column = (label.metadata or {}).get("criterion")
    return known.get(fold(column)) if isinstance(column, str) else None


def with_texts(labels: Sequence[Label], answers: Iterable[Answer]) -> list[Label]:
    """Return labels with question, answer and reference of the answers that they speak of.

    A label that is known by its question's text alone gets the id of that question.
    """
    rows = {(row.question_id, row.system): row for row in answers}
    ids = {question_id for question_id, _ in rows}
    by_text = {question_key(row.question): row.question_id for row in rows.values() if row.question}
    alone = {row.question_id: row for row in rows.values()} if len(ids) == len(rows) else {}
    completed = []
    for label in labels:
        question_id = label.question_id if label.question_id in ids else by_text.get(label.question_id)
        row = rows.get((question_id or "", label.system)) or alone.get(question_id or "")
        if row is not None:
            texts = {"question": row.question, "answer": row.answer, "reference": row.reference}
            notes: dict[str, Any] = {name: text for name, text in texts.items() if text} | reply_notes(row)
            label = msgspec.structs.replace(
                label, question_id=row.question_id, metadata=notes | (label.metadata or {})
            )
        completed.append(label)
    return completed
