"""Which questions of a log are taken, and how many of its rows each one stands for."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.features.sample._gathering import LoggedQuestion
from ragstone.kernel.corpus.tokens import search_terms
from ragstone.kernel.corpus.topics import Labels, group_texts, topic_names, topic_terms
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.errors import ConfigError, DataError

NEIGHBOURS = 5
MOST_COMPARED = 10_000  # texts that neighbours are looked for among; of more, as many at random
MOST_SHARED = 0.2  # of the texts: a term in more of them tells nothing apart
FEW = 10  # texts that may always share a term
BLOCK = 2**24  # similarities that are held at once

Similarities = NDArray[np.float32]


def rarities(texts: Sequence[str], *, embed: Embed | None = None, seed: int = 0) -> NDArray[np.float64]:
    """Return for each text its mean cosine distance to the NEIGHBOURS texts nearest to it, from 0 to 1.

    By an embedder's vectors, else by TF-IDF over the terms of search, all of them: a word that no other text
    has makes a text rare, which it would not in fewer dimensions. Of more than MOST_COMPARED texts the
    neighbours are looked for among so many of them, drawn with the seed, so distances are a little larger in
    large logs, for all alike.
    """
    n = len(texts)
    rarity = np.ones(n)
    if n < 2:
        return rarity
    among = np.arange(n)
    if n > MOST_COMPARED:
        among = np.sort(np.random.default_rng(seed).choice(n, MOST_COMPARED, replace=False))
    column = np.full(n, -1)
    column[among] = np.arange(len(among))
    k = min(NEIGHBOURS, len(among) - 1)
    begin = 0
    for similarities in _by_vectors(texts, among, embed) if embed else _by_terms(texts, among):
        here = column[begin : begin + len(similarities)]
        rows = np.flatnonzero(here >= 0)
        similarities[rows, here[rows]] = -np.inf  # nothing is its own neighbour
        nearest = np.partition(similarities, len(among) - k, axis=1)[:, len(among) - k :]
        rarity[begin : begin + len(similarities)] = 1 - nearest.mean(axis=1, dtype=np.float64)
        begin += len(similarities)
    return np.clip(np.round(rarity, 6), 0.0, 1.0)


def _by_vectors(texts: Sequence[str], among: NDArray[np.int64], embed: Embed) -> Iterator[Similarities]:
    """Yield the similarities of the texts, in blocks of rows, to those among which neighbours are."""
    vectors = embed(texts, "passage")
    others = np.ascontiguousarray(vectors[among].T)
    step = max(1, BLOCK // len(among))
    for begin in range(0, len(texts), step):
        yield vectors[begin : begin + step] @ others


def _by_terms(texts: Sequence[str], among: NDArray[np.int64]) -> Iterator[Similarities]:
    """Yield the same by TF-IDF, a row at a time; terms are counted again so that not all are held."""
    n_texts = Counter(term for text in texts for term in set(search_terms(text)))
    most = max(FEW, MOST_SHARED * len(texts))
    idf = {term: float(np.log(1 + len(texts) / n)) for term, n in n_texts.items() if n <= most}
    listed: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for column, number in enumerate(among.tolist()):
        for term, weight in _weighted(texts[number], idf).items():
            listed[term].append((column, weight))
    postings = {
        term: (np.array([column for column, _ in some]), np.array([weight for _, weight in some]))
        for term, some in listed.items()
    }
    for text in texts:
        terms = [(term, weight) for term, weight in _weighted(text, idf).items() if term in postings]
        if not terms:
            yield np.zeros((1, len(among)), dtype=np.float32)
            continue
        places = np.concatenate([postings[term][0] for term, _ in terms])
        products = np.concatenate([postings[term][1] * weight for term, weight in terms])
        yield np.bincount(places, products, minlength=len(among)).astype(np.float32)[None, :]


def _weighted(text: str, idf: Mapping[str, float]) -> dict[str, float]:
    """Return the weights of a text's terms, of length 1 together."""
    counts = Counter(term for term in search_terms(text) if term in idf)
    weights = {term: (1 + float(np.log(n))) * idf[term] for term, n in counts.items()}
    length = sum(weight**2 for weight in weights.values()) ** 0.5
    return {term: weight / length for term, weight in weights.items()}


By = Literal["random", "topic", "tag", "rarity", "frequency", "quality"]
WAYS: tuple[By, ...] = get_args(By)

MOST_GROUPED = 20_000  # questions that are grouped by topic; of more, as many at random
MOST_CHOOSING = 2_000  # questions that the number of topics is chosen on
NO_TOPIC = "other"


class DrawnSample(msgspec.Struct, frozen=True):
    """A question that was taken. weight: how many rows of the log it stands for, None if that is unknown."""

    question: LoggedQuestion
    weight: float | None = None
    topic: str | None = None
    rarity: float | None = None


class GroupShare(msgspec.Struct, frozen=True):
    """A topic or a cell of tags: its name, its questions, their rows in the log, and how many were taken."""

    name: str
    n_questions: int
    n_rows: int
    taken: int


class Sampled(msgspec.Struct, frozen=True):
    """The questions taken, and of which topics or cells; ungrouped: questions beyond MOST_GROUPED."""

    drawn: list[DrawnSample]
    topics: list[GroupShare] = []
    cells: list[GroupShare] = []
    without_quality: int = 0
    ungrouped: int = 0


class SamplingMethod(msgspec.Struct, frozen=True):
    """How it is chosen: by what, with which seed; by which vectors, in how many topics, by which tags."""

    by: By = "topic"
    seed: int = 0
    topics: int | None = None
    tags: Sequence[str] = ()
    embed: Embed | None = None
    langs: Callable[[Sequence[str]], Sequence[str | None]] | None = None


def draw(questions: Sequence[LoggedQuestion], count: int, method: SamplingMethod) -> Sampled:
    """Return `count` of the questions, all where there are fewer.

    random: each question with the same chance. topic: equal shares of the topics, what is left over to the
    largest. tag: the same of the cells that the values of `tags` make together; a question whose rows are in
    several cells is in that of most of them.
    rarity: the least like the others first. frequency: the most asked first. quality: the lowest first;
    questions without one are not taken. Ties go by the seed. The order of `questions` decides nothing.

    Raises DataError without questions, and by quality where no question has one; ConfigError for an unknown
    way, a count below 1 and a number of topics that cannot be.
    """
    if method.by not in WAYS:
        raise ConfigError(f"unknown way {method.by!r} of sampling. Known: {', '.join(WAYS)}.")
    if count < 1:
        raise ConfigError(f"{count} questions: ask for 1 or more.")
    if not questions:
        raise DataError("the log has no question that can be asked on its own.")
    shuffled = sorted(questions, key=lambda question: question.id)
    order = np.random.default_rng(method.seed).permutation(len(shuffled))
    shuffled = [shuffled[at] for at in order]
    return _WAYS[method.by](shuffled, count, method)


def _by_random(questions: Sequence[LoggedQuestion], count: int, _method: SamplingMethod) -> Sampled:
    taken = questions[:count]
    return Sampled(
        [
            DrawnSample(question, weight=_rounded(question.n * len(questions) / len(taken)))
            for question in taken
        ]
    )


def _by_frequency(questions: Sequence[LoggedQuestion], count: int, _method: SamplingMethod) -> Sampled:
    return Sampled(
        [DrawnSample(question) for question in sorted(questions, key=lambda question: -question.n)[:count]]
    )


def _by_quality(questions: Sequence[LoggedQuestion], count: int, _method: SamplingMethod) -> Sampled:
    judged = [question for question in questions if question.n_quality]
    if not judged:
        raise DataError(
            "no question in the log has a quality. Name the column of people's feedback with "
            "--quality, or the judgements of its answers with --judgements."
        )
    ranked = sorted(judged, key=lambda question: question.quality / question.n_quality)
    return Sampled(
        [DrawnSample(question) for question in ranked[:count]], without_quality=len(questions) - len(judged)
    )


def _by_rarity(questions: Sequence[LoggedQuestion], count: int, method: SamplingMethod) -> Sampled:
    distances = rarities(
        [question.text for question in questions], embed=method.embed, seed=method.seed
    ).tolist()
    ranked = sorted(zip(distances, questions, strict=True), key=lambda pair: -pair[0])
    return Sampled([DrawnSample(question, rarity=rarity) for rarity, question in ranked[:count]])


def _by_topic(questions: Sequence[LoggedQuestion], count: int, method: SamplingMethod) -> Sampled:
    grouped = questions[: max(MOST_GROUPED, count)]
    texts = [question.text for question in grouped]
    labels = _labels(texts, method)
    names = [*topic_names(topic_terms(texts, labels)), NO_TOPIC]
    members: list[list[LoggedQuestion]] = [[] for _ in names]  # the last: without a topic, labelled -1
    for question, label in zip(grouped, labels.tolist(), strict=True):
        members[label].append(question)
    groups = [(name, some) for name, some in zip(names, members, strict=True) if some]
    drawn, topics = _of_groups(groups, count, len(questions) / len(grouped))
    return Sampled(drawn, topics, ungrouped=len(questions) - len(grouped))


def _by_tag(questions: Sequence[LoggedQuestion], count: int, method: SamplingMethod) -> Sampled:
    """Take equal shares of the cells; each question is as its rows in its cell have it, answer included."""
    if not method.tags:
        raise ConfigError("by tag: name the tags with --tag, such as --tag crop --tag month.")
    members: dict[tuple[str, ...], list[LoggedQuestion]] = defaultdict(list)
    for question in questions:
        rows = question.cells[question.cell]
        answered_at = question.answered_at if rows.answered_at is None else rows.answered_at
        members[question.cell].append(msgspec.structs.replace(question, at=rows.at, answered_at=answered_at))
    groups = []
    for cell, some in sorted(members.items()):
        pairs = zip(method.tags, cell, strict=True)
        name = ", ".join(f"{tag}={value}" if value else f"no {tag}" for tag, value in pairs)
        groups.append((name, some))
    drawn, cells = _of_groups(groups, count)
    return Sampled([msgspec.structs.replace(question, topic=None) for question in drawn], cells=cells)


def _of_groups(
    groups: Sequence[tuple[str, Sequence[LoggedQuestion]]], count: int, beyond: float = 1.0
) -> tuple[list[DrawnSample], list[GroupShare]]:
    """Return the first of each group, in equal shares, and the groups, largest first.

    beyond: how many questions each of the groups' stands for.
    """
    largest = sorted(groups, key=lambda group: -len(group[1]))
    drawn, shares = [], []
    for (name, some), share in zip(
        largest, equal_shares([len(some) for _, some in largest], count), strict=True
    ):
        each = len(some) / share * beyond if share else 0.0
        drawn += [
            DrawnSample(question, weight=_rounded(question.n * each), topic=name) for question in some[:share]
        ]
        shares.append(GroupShare(name, len(some), sum(question.n for question in some), share))
    return drawn, shares


def _labels(texts: Sequence[str], method: SamplingMethod) -> Labels:
    """Return the topic of each text. Their number is chosen on some of them, for that takes long."""
    langs = method.langs(texts) if method.langs and method.embed else [None] * len(texts)
    n_topics = method.topics
    if n_topics is None:
        few = slice(0, MOST_CHOOSING)
        chosen = group_texts(texts[few], embed=method.embed, langs=langs[few], seed=method.seed)
        if len(texts) <= MOST_CHOOSING:
            return chosen
        n_topics = max(int(chosen.max()) + 1, 1)
    return group_texts(texts, n_topics, embed=method.embed, langs=langs, seed=method.seed)


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


_WAYS: dict[By, Callable[[Sequence[LoggedQuestion], int, SamplingMethod], Sampled]] = {
    "random": _by_random,
    "topic": _by_topic,
    "tag": _by_tag,
    "rarity": _by_rarity,
    "frequency": _by_frequency,
    "quality": _by_quality,
}
