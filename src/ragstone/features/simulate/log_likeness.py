"""How much simulated users are like those of a log: how they write, how long, and about what."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.corpus.topics import group_texts, topic_names, topic_terms
from ragstone.kernel.dataset.standing import why_left_out
from ragstone.kernel.errors import DataError, takes_rows
from ragstone.kernel.records import Answer
from ragstone.kernel.statistics import Estimate, mean_estimate
from ragstone.kernel.tables.interchange.conversations import turns_in
from ragstone.kernel.tables.logs.exchange import Columns, exchange_of, first_of
from ragstone.kernel.tables.logs.reading import Source, rows_of
from ragstone.kernel.tables.names import LOG_NAMES

MOST_GROUPED = 2000  # conversations of the log whose topics are looked at, evenly spaced
FEWEST_COMPARED = 5  # conversations of either side: fewer are not said to differ
FEWEST_GROUPED = 10  # conversations of both sides together: of fewer no topics are made
DRAWS = 2000

Spoken = Sequence[str]
"""What the user said in a conversation, turn by turn."""


class LikenessMeasure(msgspec.Struct, frozen=True, kw_only=True):
    """One number of both. Intervals are clustered by conversation; apart: they do not overlap."""

    name: str
    log: Estimate
    users: Estimate
    apart: bool


class TopicShares(msgspec.Struct, frozen=True, kw_only=True):
    """A topic of what conversations begin with: its share of the log's, and of the simulated users'."""

    name: str
    log: Estimate
    users: Estimate


class SharedTopics(msgspec.Struct, frozen=True, kw_only=True):
    """How much of both lies in the same topics, from 0 to 1 (1 less the total variation distance).

    alike, low, high: the mean, and 95 % of what as many conversations drawn from the log itself would share
    with it: few conversations cannot fall into many topics.
    """

    value: float
    alike: float
    low: float
    high: float


class Likeness(msgspec.Struct, frozen=True, kw_only=True):
    """How much simulated users are like those of a log.

    n_log, n_users: conversations. n_unread: rows of the log that say nothing that is understood. topics: of
    both together, the largest first; shared: None where there are too few conversations.
    """

    n_log: int
    n_users: int
    n_unread: int
    measures: list[LikenessMeasure]
    topics: list[TopicShares]
    shared: SharedTopics | None


@takes_rows(rows=Answer)
def likeness(rows: Iterable[Answer], log: Source, *, seed: int = 0) -> Likeness:
    """Return how much the users in `turns` of rows are like those of a log: files, folders, or rows of it.

    Rows of a log that have the same conversation id are one conversation. Raises DataError for a log that
    cannot be read, and where either side says nothing.
    """
    users = [turns for row in rows if (turns := [t.content for t in row.turns or () if t.role == "user"])]
    real, n_unread = spoken_in(log)
    if not real:
        raise DataError("the log has no question in a known field, so nothing can be compared.")
    if not users:
        raise DataError("no user has said anything, so nothing can be compared with the log.")
    topics, shared = _topics(real, users, seed)
    return Likeness(
        n_log=len(real),
        n_users=len(users),
        n_unread=n_unread,
        measures=[_measured(name, of_turn, real, users, seed) for name, of_turn in MEASURES.items()],
        topics=topics,
        shared=shared,
    )


def spoken_in(log: Source) -> tuple[list[Spoken], int]:
    """Return what users said in the conversations of a log, in its order, and how many rows say nothing."""
    threads: dict[object, list[str]] = defaultdict(list)
    n_unread = 0
    for at, (_place, raw) in enumerate(rows_of(log)):
        turns = [] if isinstance(raw, str) else _user_turns(raw)
        n_unread += not turns
        key = None if isinstance(raw, str) else first_of(raw, LOG_NAMES.conversations)
        if turns:
            threads[at if key is None else str(key)] += turns
    return list(threads.values()), n_unread


def _user_turns(raw: Mapping[str, object]) -> list[str]:
    turns = turns_in(raw)
    if turns is not None:
        return [turn["content"] for turn in turns if turn["role"] == "user" and turn["content"].strip()]
    exchange = exchange_of(raw, Columns())
    return [exchange.question] if exchange else []


_ASKS = re.compile("[?？؟]")
_CLAUSE = re.compile(r"[,.!?;:…\n。！？，、؟،।]")


MEASURES: dict[str, Callable[[Spoken], list[float]]] = {
    "turns a conversation": lambda turns: [float(len(turns))],
    "words a turn": lambda turns: [float(len(tokenize(text))) for text in turns],
    "turns that have a question mark": lambda turns: [float(bool(_ASKS.search(text))) for text in turns],
    "turns that begin with a greeting or thanks": lambda turns: [
        float(why_left_out(_CLAUSE.split(text.strip(), maxsplit=1)[0]) == "small_talk") for text in turns
    ],
}
"""What is compared: the values of a conversation."""
SHARES = tuple(MEASURES)[2:]


def _measured(
    name: str,
    of_turn: Callable[[Spoken], list[float]],
    real: Sequence[Spoken],
    users: Sequence[Spoken],
    seed: int,
) -> LikenessMeasure:
    log, simulated = (_mean(map(of_turn, some), seed, shares=name in SHARES) for some in (real, users))
    # Values that do not vary have no interval but one of no width.
    (low, high), (other_low, other_high) = (
        (side.value if side.low is None else side.low, side.value if side.high is None else side.high)
        for side in (log, simulated)
    )
    enough = min(len(real), len(users)) >= FEWEST_COMPARED
    apart = enough and (high < other_low or other_high < low)
    return LikenessMeasure(name=name, log=log, users=simulated, apart=apart)


def _mean(values: Iterable[list[float]], seed: int, *, shares: bool) -> Estimate:
    pairs = [(value, at) for at, some in enumerate(values) for value in some]
    estimate = mean_estimate(
        [value for value, _ in pairs], [at for _, at in pairs], seed=seed, proportion=shares
    )
    assert estimate is not None  # neither side is empty
    return estimate


def _topics(
    real: Sequence[Spoken], users: Sequence[Spoken], seed: int
) -> tuple[list[TopicShares], SharedTopics | None]:
    """Return the topics of what conversations begin with, and how much both sides share of them."""
    some = real[:: -(-len(real) // MOST_GROUPED)]
    texts = [max(turns[:2], key=len) for turns in (*some, *users)]  # a greeting has no topic
    if len(texts) < FEWEST_GROUPED:
        return [], None
    labels = group_texts(texts, seed=seed)
    names = topic_names(topic_terms(texts, labels))
    sides = labels[: len(some)], labels[len(some) :]
    numbers = [*range(len(names)), *([-1] if np.any(labels == -1) else [])]
    topics = []
    for number in numbers:
        log, simulated = (
            _mean(([float(is_inside)] for is_inside in side == number), seed, shares=True) for side in sides
        )
        topics.append(
            TopicShares(name="none of these" if number < 0 else names[number], log=log, users=simulated)
        )
    return topics, _shared(topics, len(users), seed)


def _shared(topics: Sequence[TopicShares], n_users: int, seed: int) -> SharedTopics:
    log = np.array([topic.log.value for topic in topics])
    users = np.array([topic.users.value for topic in topics])
    drawn = np.random.default_rng(seed).multinomial(n_users, log / log.sum(), size=DRAWS) / n_users
    alike = np.minimum(drawn, log).sum(axis=1)
    low, high = np.quantile(alike, (0.025, 0.975))
    return SharedTopics(
        value=float(np.minimum(users, log).sum()), alike=float(alike.mean()), low=float(low), high=float(high)
    )
