"""Streams -> the changes in them, with a chance of any false one, ever, of at most alpha."""

from collections import Counter
from collections.abc import Sequence
from datetime import date

import msgspec
import numpy as np

from ragstone.monitor.streams import Blocks, Stream, blocks_of
from ragstone.statistics.changes import change_paths
from ragstone.statistics.clusters import Codes

OVERALL = 0.5
"""The part of alpha for the streams of all exchanges; the rest is for those of tags."""

EARLY = 0.8
"""The part of that for the streams that are there from the beginning; the rest is for those to come."""


AT_ONCE = 500
"""Streams that are looked at together: some 20 MB for a year."""


class Change(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A change of a stream, in days from the stream's first.

    begin: of the days that it was compared with. at: the first day after the change, estimated. raised: the
    day at whose end the evidence sufficed. log_evidence: natural log, of that day. alpha: what was spent.
    """

    stream: Stream
    begin: int
    at: int
    raised: int
    log_evidence: float
    alpha: float


class _Look(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Where a stream is looked at: from the day `begin`, after `number` changes, with its part of alpha."""

    stream: Stream
    begin: int
    number: int
    share: float

    @property
    def alpha(self) -> float:
        return self.share / ((self.number + 1) * (self.number + 2))  # sums to share over all changes


def changes_of(streams: Sequence[Stream], alpha: float, baseline_days: int) -> list[Change]:
    """Return the changes of all streams in the order of the streams, those of one by time.

    After a change a stream begins anew on the day after it was found: a new baseline, a new part of alpha.
    """
    looks = [
        _Look(stream=stream, begin=0, number=0, share=share)
        for stream, share in zip(streams, shares_of(streams, alpha, baseline_days), strict=True)
    ]
    found: list[Change] = []
    while looks:
        ready = [
            (look, blocks) for look in looks if (blocks := blocks_of(look.stream, look.begin, baseline_days))
        ]
        looks = []
        for span in sorted({blocks.span for _, blocks in ready}):
            alike = [(look, blocks) for look, blocks in ready if blocks.span == span]
            for some in (alike[at : at + AT_ONCE] for at in range(0, len(alike), AT_ONCE)):
                for look, change in _first_changes(some, span, baseline_days):
                    found.append(change)
                    looks.append(
                        msgspec.structs.replace(look, begin=change.raised + 1, number=look.number + 1)
                    )
    place = {stream.key: at for at, stream in enumerate(streams)}
    return sorted(found, key=lambda change: (place[change.stream.key], change.raised))


def shares_of(streams: Sequence[Stream], alpha: float, baseline_days: int) -> list[float]:
    """Return each stream's part of alpha; they sum to at most alpha, whatever streams are still to come.

    Streams that begin in the same baseline_days share alike. How many they are is known before one of them
    is compared with anything, so that no later stream takes from what was spent before.
    """
    if not streams:
        return []
    origin = min(stream.first for stream in streams)
    groups = [(not stream.tag, _cohort(stream.first, origin, baseline_days)) for stream in streams]
    sizes = Counter(groups)
    return [
        alpha
        * (OVERALL if overall else 1 - OVERALL)
        * (EARLY if cohort == 0 else (1 - EARLY) / (cohort * (cohort + 1)))
        / sizes[overall, cohort]
        for overall, cohort in groups
    ]


def _cohort(first: date, origin: date, baseline_days: int) -> int:
    return (first - origin).days // baseline_days


def _first_changes(
    looks: Sequence[tuple[_Look, Blocks]], span: int, baseline_days: int
) -> list[tuple[_Look, Change]]:
    """Return the first change of each stream that has one. All have blocks of the same span."""
    offsets = _offsets([blocks for _, blocks in looks], span)
    n = max(offset + blocks.values.size for offset, (_, blocks) in zip(offsets, looks, strict=True))
    values, weights = np.zeros((len(looks), n)), np.zeros((len(looks), n))
    for row, (offset, (_, blocks)) in enumerate(zip(offsets, looks, strict=True)):
        values[row, offset : offset + blocks.values.size] = blocks.values
        weights[row, offset : offset + blocks.values.size] = blocks.weights
    paths = change_paths(
        values,
        weights,
        np.arange(n) % 7 if span == 1 else np.zeros(n, dtype=np.intp),
        noise=np.array([blocks.noise for _, blocks in looks]),
        jump=np.array([blocks.jump for _, blocks in looks]),
        first=offsets + -(-baseline_days // span),
    )
    found = []
    for row, (offset, (look, blocks)) in enumerate(zip(offsets, looks, strict=True)):
        enough = paths.log_evidence[row] >= -np.log(look.alpha)
        if enough.any():
            at = int(enough.argmax())
            change = Change(
                stream=look.stream,
                begin=blocks.begin,
                at=blocks.begin + (int(paths.change[row, at]) - int(offset)) * span,
                raised=blocks.begin + (at - int(offset) + 1) * span - 1,
                log_evidence=float(paths.log_evidence[row, at]),
                alpha=look.alpha,
            )
            found.append((look, change))
    return found


def _offsets(blocks: Sequence[Blocks], span: int) -> Codes:
    """Return the column at which each begins: days of the same date stand under one another."""
    if span > 1:
        return np.zeros(len(blocks), dtype=np.intp)
    begins = np.array([one.stream.first.toordinal() + one.begin for one in blocks], dtype=np.intp)
    return np.asarray(begins - begins.min())
