"""How much simulated users are like those of a log: how they write, how long, and about what."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.corpus.topics import group_texts, topic_names, topic_terms
from ragstone.kernel.dataset.logs.exchange import Columns, exchange_of, first_of
from ragstone.kernel.dataset.logs.reading import Source, rows_of
from ragstone.kernel.dataset.logs.standing import why_left_out
from ragstone.kernel.errors import DataError, takes_rows
from ragstone.kernel.records import Answer
from ragstone.kernel.statistics import Estimate, mean_estimate
from ragstone.kernel.tables.interchange.conversations import turns_of
from ragstone.kernel.tables.interchange.marks import messages_in
from ragstone.kernel.tables.names import CONVERSATIONS

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
    users = [said for row in rows if (said := [t.content for t in row.turns or () if t.role == "user"])]
    real, n_unread = spoken_in(log)
    if not real:
        raise DataError("the log holds no question under a name that is known, so nothing can be compared.")
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
        said = [] if isinstance(raw, str) else _said(raw)
        n_unread += not said
        key = None if isinstance(raw, str) else first_of(raw, CONVERSATIONS)
        if said:
            threads[at if key is None else str(key)] += said
    return list(threads.values()), n_unread


def _said(raw: Mapping[str, object]) -> list[str]:
    column = messages_in(dict(raw))
    if column is not None:
        messages = raw[column]
        try:
            turns = turns_of(messages) if isinstance(messages, Iterable) else []
        except ValueError:  # a role that nobody knows
            return []
        return [turn["content"] for turn in turns if turn["role"] == "user" and turn["content"].strip()]
    exchange = exchange_of(raw, Columns())
    return [exchange.question] if exchange else []


_ASKS = re.compile("[?？؟]")
_CLAUSE = re.compile(r"[,.!?;:…\n。！？，、؟،।]")


def _begins_courteously(text: str) -> bool:
    """Return whether the words before the first comma or stop are a greeting, thanks, yes or no."""
    return why_left_out(_CLAUSE.split(text.strip(), maxsplit=1)[0]) == "small_talk"


MEASURES: dict[str, Callable[[Spoken], list[float]]] = {
    "turns a conversation": lambda said: [float(len(said))],
    "words a turn": lambda said: [float(len(tokenize(text))) for text in said],
    "turns that have a question mark": lambda said: [float(bool(_ASKS.search(text))) for text in said],
    "turns that begin with a greeting or thanks": lambda said: [
        float(_begins_courteously(text)) for text in said
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
    apart = min(len(real), len(users)) >= FEWEST_COMPARED and _apart(log, simulated)
    return LikenessMeasure(name=name, log=log, users=simulated, apart=apart)


def _mean(values: Iterable[list[float]], seed: int, *, shares: bool) -> Estimate:
    pairs = [(value, at) for at, some in enumerate(values) for value in some]
    found = mean_estimate(
        [value for value, _ in pairs], [at for _, at in pairs], seed=seed, proportion=shares
    )
    assert found is not None  # neither side is empty
    return found


def _apart(one: Estimate, other: Estimate) -> bool:
    """Return whether two intervals do not overlap; values that do not vary are an interval of no width."""
    (low, high), (other_low, other_high) = map(_ends, (one, other))
    return high < other_low or other_high < low


def _ends(estimate: Estimate) -> tuple[float, float]:
    if estimate.low is None or estimate.high is None:
        return estimate.value, estimate.value
    return estimate.low, estimate.high


def _topics(
    real: Sequence[Spoken], users: Sequence[Spoken], seed: int
) -> tuple[list[TopicShares], SharedTopics | None]:
    """Return the topics of what conversations begin with, and how much both sides share of them."""
    some = real[:: -(-len(real) // MOST_GROUPED)]
    texts = [max(said[:2], key=len) for said in (*some, *users)]  # a greeting has no topic
    if len(texts) < FEWEST_GROUPED:
        return [], None
    labels = group_texts(texts, seed=seed)
    names = topic_names(topic_terms(texts, labels))
    sides = labels[: len(some)], labels[len(some) :]
    numbers = [*range(len(names)), *([-1] if np.any(labels == -1) else [])]
    topics = []
    for number in numbers:
        log, simulated = (_share(side == number, seed) for side in sides)
        topics.append(
            TopicShares(name="none of these" if number < 0 else names[number], log=log, users=simulated)
        )
    return topics, _shared(topics, len(users), seed)


def _shared(topics: Sequence[TopicShares], n_users: int, seed: int) -> SharedTopics:
    log = np.array([one.log.value for one in topics])
    users = np.array([one.users.value for one in topics])
    drawn = np.random.default_rng(seed).multinomial(n_users, log / log.sum(), size=DRAWS) / n_users
    alike = np.minimum(drawn, log).sum(axis=1)
    low, high = np.quantile(alike, (0.025, 0.975))
    return SharedTopics(
        value=float(np.minimum(users, log).sum()), alike=float(alike.mean()), low=float(low), high=float(high)
    )


def _share(inside: np.ndarray, seed: int) -> Estimate:
    return _mean(([float(one)] for one in inside), seed, shares=True)
