"""The answers that a command judges: read from files once, however often they are looked through."""

import pickle
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import msgspec

from ragstone.kernel.errors import ColumnsError
from ragstone.kernel.judging.conversation import every_reply
from ragstone.kernel.records import Answer, Question
from ragstone.kernel.systems.rows import join_questions, unanswered, with_columns
from ragstone.kernel.tables import read_rows

BLOCK = 2000  # rows in memory; what is beyond them stands in a file, for memory does not grow with a sheet


class AnswerSheet:
    """The answers of files as if they were one, joined with their questions; any iteration gives all of them.

    The files are read when the rows are first needed. paths: each file once. questions: a file that holds
    question and reference by id, where the sheet does not. bare: whether questions will do, since nobody
    reads an answer. each_turn: every reply of a conversation is a row of its own; `limit` counts
    conversations. left: question id and system of the answers that a filter leaves, None for all. Raises
    DataError where a row cannot be read.
    """

    def __init__(
        self,
        sheet: Path | Sequence[Path],
        *,
        questions: Path | None = None,
        limit: int | None = None,
        bare: bool = False,
        each_turn: bool = False,
        left: Collection[tuple[str, str]] | None = None,
    ) -> None:
        self.paths = [sheet] if isinstance(sheet, Path) else list(dict.fromkeys(sheet))
        self.sources = [*self.paths, *([questions] if questions else [])]
        self.limit = limit
        self.each_turn = each_turn
        self._bare = bare
        self._left = None if left is None else frozenset(left)
        self._by_id: dict[str, Question] = {}
        for row in read_rows(questions, Question) if questions else ():
            if row.document_ids is not None:  # a column, which its answers take over
                columns = {"document_ids": row.document_ids, **(row.metadata or {})}
                row = msgspec.structs.replace(row, metadata=columns)
            self._by_id[row.id] = row
        self._first: list[Answer] | None = None
        self._spilled: IO[bytes] | None = None
        self._blocks: list[int] = []  # where each further block begins in the file
        self._n_rows = 0

    def __len__(self) -> int:
        self._read()
        return self._n_rows

    def __iter__(self) -> Iterator[Answer]:
        yield from self._read()
        if self._spilled is not None:
            for start in self._blocks:
                self._spilled.seek(start)
                yield from pickle.load(self._spilled)  # noqa: S301 - our own file, which has no name

    def _read(self) -> list[Answer]:
        """Read all rows if they have not been, and return those that stay in memory."""
        if self._first is not None:
            return self._first
        rows = self._rows_of_files()
        first = list(islice(rows, BLOCK))
        self._n_rows, self._blocks = len(first), []
        while block := list(islice(rows, BLOCK)):
            if self._spilled is None:
                self._spilled = TemporaryFile()  # noqa: SIM115 - it lives as long as the sheet
                weakref.finalize(self, self._spilled.close)
            self._blocks.append(self._spilled.seek(0, 2))
            pickle.dump(block, self._spilled, protocol=5)
            self._n_rows += len(block)
        self._first = first
        return first

    def _rows_of_files(self) -> Iterator[Answer]:
        rows: Iterator[Answer] = chain.from_iterable(
            answers_or_questions(partial(read_rows, file)) if self._bare else read_rows(file, Answer)
            for file in self.paths
        )
        if self._by_id:
            rows = with_columns(join_questions(rows, self._by_id), self._by_id)
        if self._left is not None:
            rows = (row for row in rows if (row.question_id, row.system) in (self._left or ()))
        rows = islice(rows, self.limit)
        return every_reply(rows) if self.each_turn else rows


def answers_or_questions(read: Callable[[type], Iterable[Any]]) -> Iterator[Answer]:
    """Yield the answers that `read` gives; where no column holds any, its questions, with empty ones."""
    answers: Iterator[Answer] = iter(())
    try:
        answers = iter(read(Answer))
        first = next(answers, None)
    except ColumnsError:
        for question in read(Question):
            yield msgspec.structs.replace(unanswered(question, "default"), metadata=question.metadata)
        return
    if first is not None:
        yield first
        yield from answers
