"""The labelled sets of a project: people's labels with the answers that they speak of."""

from pathlib import Path

import msgspec

from ragstone.agreement.queueing import queue_names, read_queue, read_texts
from ragstone.config import Settings
from ragstone.errors import DataError, nearest
from ragstone.flows.develop.labelled import LabelledSet, labelled_set, read_labelled
from ragstone.records import Label
from ragstone.tables import read_rows

QUEUES = "queues"


class Source(msgspec.Struct, frozen=True):
    """Where a labelled set comes from. queue: the folder of its queue, which holds the texts; else None."""

    labels: Path
    queue: Path | None = None


def sources_of(settings: Settings) -> dict[str, Source]:
    """Return the labelled sets by name: the files of the folder of labels, then the sheets of the settings.

    Those are `[agree] sheet` and `[bench.judges] sheet`. Of two of one name the first is taken.
    """
    queues = settings.path(settings.workbench.store) / QUEUES
    names = set(queue_names(queues))
    files = sorted(settings.path(settings.workbench.labels).glob("*.jsonl"))
    found = {file.stem: Source(file, queues if file.stem in names else None) for file in files}
    for sheet in (settings.agree.sheet, settings.bench.judges.sheet):
        if sheet is not None:
            path = settings.path(sheet)
            found.setdefault(path.stem, Source(path))
    return found


def open_set(settings: Settings, name: str) -> LabelledSet:
    """Return a labelled set. Raises DataError for a name that is none, and where labels have no answers."""
    sources = sources_of(settings)
    if not sources:
        raise DataError(
            "there are no labels yet. Label some answers on the page Label, or name a labelled sheet as "
            "`sheet` in [agree] of ragstone.toml."
        )
    if name not in sources:
        raise DataError(f"there is no labelled set {name!r}. {nearest(name, sorted(sources))}")
    source = sources[name]
    if source.queue is None:
        return read_labelled(source.labels)
    texts = read_texts(source.queue, read_queue(source.queue, name))
    return labelled_set(name, texts, read_rows(source.labels, Label))
