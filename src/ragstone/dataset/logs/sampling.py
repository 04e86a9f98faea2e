"""Which questions of a log are taken, and how many of its rows each one stands for."""

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import msgspec
import numpy as np

from ragstone.corpus.clustering import Labels
from ragstone.corpus.topics import group_texts, topic_names, topic_terms
from ragstone.dataset.logs import Asked
from ragstone.dataset.logs.rarity import rarities
from ragstone.embedding.model import Embed
from ragstone.errors import ConfigError, DataError

By = Literal["random", "topic", "rarity", "frequency", "quality"]
WAYS: tuple[By, ...] = get_args(By)

MOST_GROUPED = 20_000  # questions that are grouped by topic; of more, as many at random
MOST_CHOOSING = 2_000  # questions that the number of topics is chosen on
NO_TOPIC = "other"


class Drawn(msgspec.Struct, frozen=True):
    """A question that was taken. weight: how many rows of the log it stands for, None if that is unknown."""

    asked: Asked
    weight: float | None = None
    topic: str | None = None
    rarity: float | None = None


class TopicShare(msgspec.Struct, frozen=True):
    """A topic: its name, its questions and their rows in the log, and how many questions were taken."""

    name: str
    n_questions: int
    n_rows: int
    taken: int


class Sampled(msgspec.Struct, frozen=True):
    """The questions that were taken, and of which topics; ungrouped: questions beyond MOST_GROUPED."""

    drawn: list[Drawn]
    topics: list[TopicShare] = []
    without_quality: int = 0
    ungrouped: int = 0


class Way(msgspec.Struct, frozen=True):
    """How it is chosen: by what, with which seed; by which vectors, in how many topics."""

    by: By = "topic"
    seed: int = 0
    topics: int | None = None
    embed: Embed | None = None
    langs: Callable[[Sequence[str]], Sequence[str | None]] | None = None


def draw(asked: Sequence[Asked], count: int, way: Way) -> Sampled:
    """Return `count` of the questions, all where there are fewer.

    random: each question with the same chance. topic: equal shares of the topics, what is left over to the
    largest. rarity: the least like the others first. frequency: the most asked first. quality: the lowest
    first; questions without one are not taken. Ties go by the seed. The order of `asked` decides nothing.

    Raises DataError without questions, and by quality where no question has one; ConfigError for an unknown
    way, a count below 1 and a number of topics that cannot be.
    """
    if way.by not in WAYS:
        raise ConfigError(f"unknown way {way.by!r} of sampling. Known: {', '.join(WAYS)}.")
    if count < 1:
        raise ConfigError(f"{count} questions: ask for 1 or more.")
    if not asked:
        raise DataError("the log holds no question that can be asked alone.")
    shuffled = sorted(asked, key=lambda one: one.id)
    order = np.random.default_rng(way.seed).permutation(len(shuffled))
    shuffled = [shuffled[at] for at in order]
    return _WAYS[way.by](shuffled, count, way)


def _by_random(asked: Sequence[Asked], count: int, _way: Way) -> Sampled:
    taken = asked[:count]
    return Sampled([Drawn(one, weight=_rounded(one.n * len(asked) / len(taken))) for one in taken])


def _by_frequency(asked: Sequence[Asked], count: int, _way: Way) -> Sampled:
    return Sampled([Drawn(one) for one in sorted(asked, key=lambda one: -one.n)[:count]])


def _by_quality(asked: Sequence[Asked], count: int, _way: Way) -> Sampled:
    judged = [one for one in asked if one.n_quality]
    if not judged:
        raise DataError(
            "no question of the log has a quality. Name the column of people's feedback with --quality, or "
            "the judgements of its answers with --judgements."
        )
    ranked = sorted(judged, key=lambda one: one.quality / one.n_quality)
    return Sampled([Drawn(one) for one in ranked[:count]], without_quality=len(asked) - len(judged))


def _by_rarity(asked: Sequence[Asked], count: int, way: Way) -> Sampled:
    found = rarities([one.text for one in asked], embed=way.embed, seed=way.seed).tolist()
    ranked = sorted(zip(found, asked, strict=True), key=lambda pair: -pair[0])
    return Sampled([Drawn(one, rarity=rarity) for rarity, one in ranked[:count]])


def _by_topic(asked: Sequence[Asked], count: int, way: Way) -> Sampled:
    grouped = asked[: max(MOST_GROUPED, count)]
    texts = [one.text for one in grouped]
    labels = _labels(texts, way)
    names = [*topic_names(topic_terms(texts, labels)), NO_TOPIC]
    members: list[list[Asked]] = [[] for _ in names]
    for one, label in zip(grouped, labels.tolist(), strict=True):
        members[label].append(one)
    filled = sorted((at for at, some in enumerate(members) if some), key=lambda at: -len(members[at]))
    shares = equal_shares([len(members[at]) for at in filled], count)
    drawn, topics = [], []
    for at, share in zip(filled, shares, strict=True):
        each = len(members[at]) / share * len(asked) / len(grouped) if share else 0.0
        drawn += [Drawn(one, weight=_rounded(one.n * each), topic=names[at]) for one in members[at][:share]]
        n_rows = sum(one.n for one in members[at])
        topics.append(TopicShare(names[at], len(members[at]), n_rows, share))
    return Sampled(drawn, topics, ungrouped=len(asked) - len(grouped))


def _labels(texts: Sequence[str], way: Way) -> Labels:
    """Return the topic of each text. Their number is chosen on some of them, for that takes long."""
    langs = way.langs(texts) if way.langs and way.embed else [None] * len(texts)
    n_topics = way.topics
    if n_topics is None:
        few = slice(0, MOST_CHOOSING)
        chosen = group_texts(texts[few], embed=way.embed, langs=langs[few], seed=way.seed)
        if len(texts) <= MOST_CHOOSING:
            return chosen
        n_topics = max(int(chosen.max()) + 1, 1)
    return group_texts(texts, n_topics, embed=way.embed, langs=langs, seed=way.seed)


def equal_shares(sizes: Sequence[int], count: int) -> list[int]:
    """Return how many to take of groups of these sizes, largest first: as many of each as there are, at most.

    What small groups cannot give is shared by the others, and what cannot be shared goes to the first ones.
    """
    shares = [0] * len(sizes)
    left = min(count, sum(sizes))
    while left:
        free = [at for at, size in enumerate(sizes) if shares[at] < size]
        each = max(left // len(free), 1)
        for at in free[:left]:
            more = min(each, sizes[at] - shares[at])
            shares[at] += more
            left -= more
    return shares


def _rounded(weight: float) -> float:
    return round(weight, 4)


_WAYS: dict[By, Callable[[Sequence[Asked], int, Way], Sampled]] = {
    "random": _by_random,
    "topic": _by_topic,
    "rarity": _by_rarity,
    "frequency": _by_frequency,
    "quality": _by_quality,
}
