"""Queues of a workbench, opened: their texts are read once, for a queue never changes."""

from collections.abc import Iterator
from pathlib import Path
from weakref import WeakKeyDictionary

from litestar.exceptions import NotFoundException

from ragstone.agreement.queueing.marking import Marks
from ragstone.agreement.queueing.queue import Queue, queue_names, read_queue, read_texts
from ragstone.errors import DataError
from ragstone.records import Answer, Judgement
from ragstone.tables import read_rows
from ragstone.web.workbench.desk import Workbench
from ragstone.web.workbench.labelling.showing import Highlighted, highlighted
from ragstone.web.workbench.rows.files import rows_file
from ragstone.web.workbench.runs import find_run


class OpenQueue:
    """A queue with its texts, in the order of its items, and the files of its labels."""

    def __init__(self, bench: Workbench, queue: Queue) -> None:
        self.queue = queue
        self.texts: list[Answer] = read_texts(folder_of(bench), queue)
        skips = folder_of(bench) / f"{queue.name}.skipped.jsonl"
        self.marks = Marks(queue, bench.labels / f"{queue.name}.jsonl", skips)
        self._contexts: dict[int, list[Highlighted]] = {}

    def contexts(self, place: int) -> list[Highlighted]:
        """Return the contexts of an item with what supports its answer marked."""
        if place not in self._contexts:
            self._contexts[place] = highlighted(self.texts[place])
        return self._contexts[place]


_OPEN: "WeakKeyDictionary[Workbench, dict[str, OpenQueue]]" = WeakKeyDictionary()


def folder_of(bench: Workbench) -> Path:
    """Return the folder of the queues."""
    return bench.store / "queues"


def open_queue(bench: Workbench, name: str) -> OpenQueue:
    """Return a queue by its name. Raises NotFoundException where there is none, DataError for a broken
    file."""
    opened = _OPEN.setdefault(bench, {})
    if name not in opened:
        if name not in queue_names(folder_of(bench)):
            raise NotFoundException(
                f"There is no queue {name!r} here. The list of queues shows what there is."
            )
        opened[name] = OpenQueue(bench, read_queue(folder_of(bench), name))
    return opened[name]


def queues_of(bench: Workbench) -> list[OpenQueue]:
    """Return all queues by name; those whose files are broken are left out, see broken_queues."""
    return [found for found in _opened(bench) if isinstance(found, OpenQueue)]


def broken_queues(bench: Workbench) -> list[str]:
    """Return what is wrong with the queues that cannot be opened, or whose labels cannot, in words."""
    return [found for found in _opened(bench) if isinstance(found, str)]


def _opened(bench: Workbench) -> Iterator[OpenQueue | str]:
    for name in queue_names(folder_of(bench)):
        try:
            found = open_queue(bench, name)
            found.marks.labels.rows()
            found.marks.skips.rows()
        except DataError as mistake:
            yield f"{name}: {mistake}"
        else:
            yield found


def judgements_of(bench: Workbench, queue: Queue) -> list[Judgement]:
    """Return what the queue's judge said of all answers of its run.

    Raises NotFoundException or DataError where the run is gone, or has no judgements.
    """
    path = rows_file(find_run(bench, queue.source), "judgements")
    if path is None:
        raise DataError(f"The run {queue.source!r} holds no judgements any more.")
    return [
        row for row in read_rows(path, Judgement) if (row.judge, row.metric) == (queue.judge, queue.metric)
    ]
