"""From production to an evaluation set: questions of the monitor's store, with the answers that they got."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, overload

from ragstone.features.sample import Sample, sample_log
from ragstone.features.watch._showing import ALL, ExchangeFilter, StoredExchange
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.config import Settings
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.errors import DataError


def sample_store(
    store: MonitorStore,
    count: int = 200,
    *,
    by: Literal["topic", "random", "rarity", "frequency", "quality"] = "topic",
    quality: str = "faithfulness",
    chosen: ExchangeFilter = ALL,
    seed: int = 0,
    settings: Settings,
    progress: Progress = silent,
) -> Sample:
    """Return `count` questions of the store, each once, and the first answers that they got.

    by: as in sample_log; `quality` takes the lowest first, in the metric of that name or by people's
    `feedback`. chosen: which exchanges are drawn from. Topics are grouped by the `embedder` of `[monitor]`.
    Every tag of an exchange becomes one of its question; personal data is masked, whatever the store keeps.
    Raises DataError where nothing can be asked alone, and what sample_log raises.
    """
    rows = StoreRows(store, chosen, quality if by == "quality" else None)
    if not len(rows):
        raise DataError("the store has no such exchange. Read a log first: ragstone watch LOG")
    return sample_log(
        rows,
        count,
        by=by,
        embedder=settings.monitor.embedder,
        quality="quality" if by == "quality" else None,
        tags=[tag for (tag,) in store.connection.execute("SELECT DISTINCT tag FROM tag_values ORDER BY tag")],
        seed=seed,
        settings=settings,
        progress=progress,
    )


class StoreRows(Sequence[Mapping[str, Any]]):
    """The exchanges of a store as rows of a log, read as they are needed: they need not fit into memory."""

    def __init__(self, store: MonitorStore, chosen: ExchangeFilter = ALL, quality: str | None = None) -> None:
        """Take the exchanges that a filter lets through. quality: the metric whose score is a row's."""
        self._store, self._chosen, self._quality = store, chosen, quality
        self._n = store.exchanges(chosen, size=1).n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        return list(self)[index] if isinstance(index, slice) or index else next(iter(self))

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for seen in self._store.each(self._chosen):
            yield self._row(seen)

    def _row(self, seen: StoredExchange) -> dict[str, Any]:
        contexts = seen.contexts
        return {
            "question_id": seen.name,
            "question": seen.question,
            "answer": seen.answer,
            "system": seen.system,
            "contexts": contexts
            and [
                {name: value for name in FIELDS if (value := getattr(context, name)) is not None}
                for context in contexts
            ],
            "tags": seen.tags,
            "quality": self._quality_of(seen),
        }

    def _quality_of(self, seen: StoredExchange) -> float | None:
        if self._quality == "feedback":
            return seen.feedback
        scores = [
            score.score for score in seen.scores if score.metric == self._quality and score.score is not None
        ]
        return scores[-1] if scores else None


FIELDS = ("id", "document_id", "text", "score")
