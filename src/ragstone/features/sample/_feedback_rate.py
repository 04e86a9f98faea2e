"""Exchanges by their thumbs -> which of them people label, with known chances, and what the labels say."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from ragstone.kernel.agreement.pairing import inclusion_of
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Label
from ragstone.kernel.statistics import wilson_interval

Thumb = Literal["down", "up", "none"]
THUMBS: tuple[Thumb, ...] = ("down", "up", "none")
SHARES: dict[Thumb, float] = {
    "down": 0.2,
    "up": 0.1,
}  # of a queue, at most; the rest is of exchanges without a thumb
DRAWS = 10_000
LEVEL = (0.025, 0.975)
JEFFREYS = 0.5
QUEUE = "feedback"  # the first part of the name of a draw


class FeedbackGroup(msgspec.Struct, frozen=True):
    """Exchanges with one kind of thumb: how many there are, and how many of them are in the queue.

    name: down, up, or none: no thumb, or one in the middle of its scale.
    """

    name: Thumb
    n_exchanges: int
    drawn: int


class DrawnExchange(msgspec.Struct, frozen=True):
    """An exchange to label. group: a letter that does not say which thumb it has."""

    at: int
    inclusion: float
    group: str
    group_size: int


def draw_exchanges(
    groups: Mapping[Thumb, Sequence[int]], n: int, seed: int
) -> tuple[list[DrawnExchange], list[FeedbackGroup]]:
    """Return n exchanges in random order, and how many were drawn of each group.

    A fifth is of those with a thumb down and a tenth of those with a thumb up, or all of them if there are
    fewer; the rest is of those without a thumb, each with the same chance. Where these are too few, more
    with a thumb are taken.
    """
    rng = np.random.default_rng(seed)
    sizes = {name: len(groups[name]) for name in THUMBS}
    least = 1 if n >= len(THUMBS) else 0  # of each group: without a label of one there is no rate
    wanted = {name: min(sizes[name], max(least, round(share * n))) for name, share in SHARES.items()}
    wanted["none"] = min(sizes["none"], n - sum(wanted.values()))
    for name in SHARES:
        wanted[name] += max(0, min(sizes[name] - wanted[name], n - sum(wanted.values())))
    letters = dict(zip(THUMBS, (chr(97 + at) for at in rng.permutation(len(THUMBS)).tolist()), strict=True))
    drawn = [
        DrawnExchange(groups[name][place], round(wanted[name] / sizes[name], 9), letters[name], sizes[name])
        for name in THUMBS
        for place in rng.permutation(sizes[name])[: wanted[name]].tolist()
    ]
    counts = [FeedbackGroup(name, sizes[name], wanted[name]) for name in THUMBS]
    return [drawn[place] for place in rng.permutation(len(drawn)).tolist()], counts


def queue_name(drawn: Sequence[DrawnExchange], names: Mapping[int, str]) -> str:
    """Return the name of a draw: the same for the same one."""
    listed = [(names[row.at], row.inclusion, row.group) for row in drawn]
    return f"{QUEUE}-{hashlib.sha256(msgspec.json.encode(listed)).hexdigest()[:8]}"


class FeedbackShare(msgspec.Struct, frozen=True):
    """A share of answers, from 0 to 1, its 95 % interval, and how many labelled answers it is from."""

    value: float
    low: float
    high: float
    n: int


class FeedbackRate(msgspec.Struct, frozen=True, kw_only=True):
    """What people's labels of a queue say. n_labelled: answers; n_tied: on which annotators tied.

    n_exchanges: those that the queue was drawn from. right: the share of them with a right answer; None while
    a group of them has no label. down_wrong: of the answers with a thumb down, the share that people find
    wrong; up_right: of those with a thumb up, the share that they find right; None without a label.
    """

    n_labelled: int
    n_tied: int
    n_exchanges: int
    right: FeedbackShare | None
    down_wrong: FeedbackShare | None
    up_right: FeedbackShare | None


class _Labelled(msgspec.Struct, frozen=True):
    group: str
    group_size: int
    inclusion: float
    right: bool


def rate_of(labels: Iterable[Label], thumbs: Mapping[str, Thumb], seed: int) -> FeedbackRate:
    """Return what labels say. thumbs: of exchanges, by id.

    The answers that nobody labelled are drawn from the beta-binomial distribution that the labels of their
    group leave (Jeffreys' prior); the interval is for the exchanges that the queue was drawn from, so
    nothing is open once all are labelled. Shares of answers with a thumb are weighed by 1 / chance, with
    Wilson's interval for as many labels as they are worth (Kish 1965).

    Raises DataError for labels of no queue of feedback, of several, and for scores beside 0 and 1.
    """
    rows, n_exchanges, n_tied = _labelled(labels)
    sizes = {row.group: row.group_size for row in rows.values()}
    n, k = (
        Counter(row.group for row in rows.values()),
        Counter(row.group for row in rows.values() if row.right),
    )
    right = None
    if rows and sum(sizes.values()) == n_exchanges:
        rng = np.random.default_rng(seed)
        totals = np.zeros(DRAWS)
        for group in sorted(sizes):
            shares = rng.beta(k[group] + JEFFREYS, n[group] - k[group] + JEFFREYS, DRAWS)
            totals += k[group] + rng.binomial(sizes[group] - n[group], shares)
        value = sum(size * k[group] / n[group] for group, size in sizes.items()) / n_exchanges
        low, high = np.quantile(totals / n_exchanges, LEVEL)
        right = FeedbackShare(value, min(float(low), value), max(float(high), value), len(rows))
    down = [(not row.right, row) for name, row in rows.items() if thumbs.get(name) == "down"]
    up = [(row.right, row) for name, row in rows.items() if thumbs.get(name) == "up"]
    return FeedbackRate(
        n_labelled=len(rows),
        n_tied=n_tied,
        n_exchanges=n_exchanges,
        right=right,
        down_wrong=_weighed(down),
        up_right=_weighed(up),
    )


def _labelled(labels: Iterable[Label]) -> tuple[dict[str, _Labelled], int, int]:
    """Return exchange -> what people say of it; how many the queue was drawn from, and ties."""
    given: defaultdict[str, list[Label]] = defaultdict(list)
    draws: set[tuple[str, int]] = set()
    for label in labels:
        columns = label.metadata or {}
        queue = str(columns.get("queue") or "")
        if not queue.startswith(f"{QUEUE}-"):
            continue
        if label.score not in (0.0, 1.0):
            raise DataError(f"exchange {label.question_id!r}: score {label.score:g} is neither 0 nor 1.")
        draws.add((queue, _size(label, "n_exchanges")))
        given[label.question_id].append(label)
    if not draws:
        raise DataError(
            "no label is of a queue of `ragstone sample --feedback`. Fill in `score` in the file that it "
            "wrote, and keep its other columns."
        )
    if len(draws) > 1:
        names = ", ".join(sorted(queue for queue, _ in draws))
        raise DataError(
            f"the labels are of several draws ({names}), whose chances differ. Give those of one."
        )
    means = {name: sum(label.score for label in some) / len(some) for name, some in given.items()}
    rows = {
        name: _Labelled(
            str((given[name][0].metadata or {}).get("group")),
            _size(given[name][0], "group_size"),
            inclusion_of(given[name][0]) or 1.0,
            mean > 0.5,
        )
        for name, mean in means.items()
        if mean != 0.5
    }
    [(_, n_exchanges)] = draws
    return rows, n_exchanges, len(means) - len(rows)


def _size(label: Label, name: str) -> int:
    value = (label.metadata or {}).get(name)
    try:
        size = int(str(value))
    except ValueError:
        size = 0
    if size < 1:
        raise DataError(
            f"exchange {label.question_id!r}: {name} {value!r} is not a number of exchanges. Leave the "
            "column as it was written."
        )
    return size


def _weighed(rows: Sequence[tuple[bool, _Labelled]]) -> FeedbackShare | None:
    if not rows:
        return None
    weights = np.array([1 / row.inclusion for _, row in rows])
    value = float(weights @ np.array([hit for hit, _ in rows], dtype=np.float64) / weights.sum())
    worth = float(weights.sum() ** 2 / (weights @ weights))
    low, high = wilson_interval(value * worth, worth)
    return FeedbackShare(value, low, high, len(rows))
