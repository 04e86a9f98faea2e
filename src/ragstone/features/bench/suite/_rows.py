"""The rows of the touchstone suite: answers whose grade is known, some with what should not matter."""

import functools
from collections.abc import Iterable, Sequence
from importlib import resources
from itertools import groupby
from typing import Literal

import msgspec

from ragstone.kernel.agreement.comparison import PREFERENCE
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Answer, Context, Label

ROOM = "ragstone.features.bench.suite"  # where rows.jsonl, cards.json and SOURCES.md are
LEAST = 20  # rows of a sample

Labeller = Literal["people", "construction"]
Change = Literal["length", "position", "injection"]
CHANGES: tuple[Change, ...] = ("length", "position", "injection")


class SuiteRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A row of the suite.

    question_id: rows of one question stand together, and are in a sample together. kind: `evouna`, `saf-en`,
    `saf-de`, `agxqa`, `clapnq`, `own` or `refusals`. by: who gave the labels: people, or we who made the row.
    labels: metric -> grade, 0 to 1. change, of: of a row that was made from another one of its question, what
    was changed and the other's system: a verdict should not differ between them.
    """

    question_id: str
    system: str
    kind: str
    by: Labeller
    question: str
    answer: str
    reference: str | list[str] | None = None
    contexts: list[str] = []
    labels: dict[str, float]
    lang: str
    change: Change | None = None
    of: str | None = None

    def as_answer(self) -> Answer:
        """Return the row as a judge is shown it: without its labels."""
        return Answer(
            question_id=self.question_id,
            system=self.system,
            question=self.question,
            reference=self.reference,
            answer=self.answer,
            contexts=[Context(text=text) for text in self.contexts] or None,
        )


@functools.cache
def suite_rows() -> tuple[SuiteRow, ...]:
    """Return all rows, in an order in which the first N are like all of them."""
    lines = (resources.files(ROOM) / "rows.jsonl").read_bytes().splitlines()
    return tuple(msgspec.json.decode(line, type=SuiteRow) for line in lines)


def sample_rows(n: int | None) -> list[SuiteRow]:
    """Return the first questions of the suite that make at most n rows; None: all.

    Raises ConfigError for fewer than LEAST rows, and for more than there are.
    """
    rows = suite_rows()
    if n is None:
        return [*rows]
    if not LEAST <= n <= len(rows):
        raise ConfigError(
            f"sample {n}: give {LEAST} to {len(rows)}, the number of rows in the suite; without it, all."
        )
    taken: list[SuiteRow] = []
    for _, group in groupby(rows, key=lambda row: row.question_id):
        question = [*group]
        if len(taken) + len(question) > n:
            break
        taken += question
    return taken


def metrics_of(rows: Iterable[SuiteRow]) -> list[str]:
    """Return what the rows have labels of, `preference` among them where two answers differ."""
    return [*dict.fromkeys(metric for row in rows for metric in row.labels), PREFERENCE]


def rows_for(metric: str, rows: Iterable[SuiteRow]) -> list[SuiteRow]:
    """Return the rows with a label of a metric; of `preference` the pairs that people have graded apart."""
    if metric != PREFERENCE:
        return [row for row in rows if metric in row.labels]
    pairs = (
        [*group]
        for _, group in groupby((row for row in rows if row.kind == "evouna"), lambda row: row.question_id)
    )
    return [row for pair in pairs if len(pair) == 2 for row in pair]


def labels_of(metric: str, rows: Sequence[SuiteRow]) -> list[Label]:
    """Return the labels of a metric; of `preference` one of each pair, in the order in which they stand."""
    if metric != PREFERENCE:
        return [_label(row, row.system, row.labels[metric], metric) for row in rows]
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return [
        _label(first, f"{first.system} vs {second.system}", first.labels["correctness"], metric)
        for first, second in pairs
    ]


def _label(row: SuiteRow, system: str, score: float, metric: str) -> Label:
    metadata = {"question": row.question}  # answers to one question belong together
    return Label(question_id=row.question_id, system=system, metric=metric, score=score, metadata=metadata)
