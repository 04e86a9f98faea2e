"""Documents or chunks -> the same rows with topics and tags in their metadata."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.kernel.config import Settings, load_settings
from ragstone.kernel.corpus.model_tags import TagChoice, choose_tags, name_topic
from ragstone.kernel.corpus.tags import Tag, load_tags, match_tags, with_tags
from ragstone.kernel.corpus.topics import Labels, group_texts, topic_names, topic_terms, unique_names
from ragstone.kernel.embedding.model import NotEmbedded
from ragstone.kernel.engine.local import map_in_order
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions, forecast_of, run_in_session
from ragstone.kernel.errors import ConfigError, DataError, takes_rows
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import Chunk, Document, Status
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.stages.given import Taggable


class Tagging(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done.

    topics: whether topics are found; n_topics: how many, None chooses. embedder: that groups the texts;
    without one they are grouped by the terms that they share. model: that chooses tags and names topics;
    without one tags are matched by words and topics named by their terms. seed: of the grouping.
    """

    topics: bool = True
    n_topics: int | None = None
    tags: list[Tag] = []
    embedder: str | None = None
    model: str | None = None
    seed: int = 0


class TopicCount(msgspec.Struct, frozen=True, kw_only=True):
    """A topic: its name, how many rows it has, the terms that tell it from the others."""

    name: str
    n_rows: int
    terms: list[str]


class TaggingSummary(msgspec.Struct, frozen=True, kw_only=True):
    """How many rows got what.

    n_without_topic: rows that share no term with another. tags: key -> value -> rows. untagged: key -> rows
    without a value. statuses: what became of the calls for tags, a row each; named: of those for names, a
    topic each: one that failed has its terms for a name. n_cut: rows of which the model saw the beginning.
    """

    n_rows: int
    topics: list[TopicCount]
    n_without_topic: int
    tags: dict[str, dict[str, int]]
    untagged: dict[str, int]
    statuses: dict[Status, int]
    named: dict[Status, int]
    n_cut: int
    calls: Calls


@takes_rows(rows=(Document, Chunk))
def tag(
    rows: Sequence[Taggable],
    *,
    topics: int | bool = True,
    tags: Path | str | Sequence[Tag] = (),
    model: str | None = None,
    embedder: str | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> tuple[list[Taggable], TaggingSummary]:
    """Return the rows with `topic` and `tags` in their metadata, in order, and how many got what.

    topics: how many, True to have the number chosen, False for none. tags: a file of tags, see load_tags.
    model: chooses the tags and names the topics; without one words decide. embedder: groups by its vectors in
    place of terms. budget: e.g. `100calls`; deadline: e.g. `30m`.

    Raises ConfigError for a number of topics that cannot be, a wrong file of tags, or an open tag without a
    model; DataError without rows; ModelError when no call can succeed.
    """
    wanted = Tagging(
        topics=topics is not False,
        n_topics=None if isinstance(topics, bool) else topics,
        tags=load_tags(tags) if isinstance(tags, str | Path) else list(tags),
        embedder=embedder,
        model=model,
    )
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)
    return tag_in_session(rows, wanted, settings or load_settings(), how)


def tag_in_session(
    rows: Sequence[Taggable], wanted: Tagging, settings: Settings, how: SessionOptions
) -> tuple[list[Taggable], TaggingSummary]:
    """Return what `tag` returns, for what is wanted, in a session of its own."""
    return run_in_session(settings, how, lambda session: tag_rows(rows, wanted, session))


def forecast_tagging(rows: Sequence[Taggable], wanted: Tagging, settings: Settings) -> Forecast:
    """Return what tagging these rows would ask of models. Raises what `tag` raises before a call."""
    return forecast_of(settings, lambda session: tag_rows(rows, wanted, session))


async def tag_rows(
    rows: Sequence[Taggable], wanted: Tagging, session: Session
) -> tuple[list[Taggable], TaggingSummary]:
    """Return the rows with what is wanted in their metadata, and how many got what."""
    _check(rows, wanted)
    texts = [_text_of(row) for row in rows]
    tags, chosen = await _tags_of(rows, wanted, session)
    names: list[str | None] = [None] * len(rows)
    topics: list[TopicCount] = []
    named: list[TagChoice] = []
    if wanted.topics:
        topics, named, names = await _topics_of(texts, [_lang_of(row) for row in rows], wanted, session)
    tagged = [
        msgspec.structs.replace(row, metadata=_metadata(row, some, name, wanted, choice))
        for row, some, name, choice in zip(rows, tags, names, chosen, strict=True)
    ]
    summary = TaggingSummary(
        n_rows=len(rows),
        topics=topics,
        n_without_topic=names.count(None) if wanted.topics else 0,
        tags={tag.key: _counts(tags, tag) for tag in wanted.tags},
        untagged={tag.key: sum(not some.get(tag.key) for some in tags) for tag in wanted.tags},
        statuses=dict(Counter(choice.status for choice in chosen if choice is not None)),
        named=dict(Counter(choice.status for choice in named)),
        n_cut=sum(choice is not None and choice.cut for choice in chosen),
        calls=session.calls(),
    )
    return tagged, summary


def _check(rows: Sequence[Taggable], wanted: Tagging) -> None:
    if not rows:
        raise DataError("there are no rows to tag.")
    if not wanted.topics and not wanted.tags:
        raise ConfigError("nothing to do: ask for topics, for tags, or for both.")
    opened = [tag.key for tag in wanted.tags if tag.values is None]
    if opened and wanted.model is None:
        raise ConfigError(
            f"the tag {opened[0]!r} is open, and only a model can choose its values. Name one with --model, "
            "or list the values."
        )


def _text_of(row: Taggable) -> str:
    title = row.title if isinstance(row, Document) else (row.metadata or {}).get("title")
    return f"{title}\n{row.text}" if isinstance(title, str) and not row.text.startswith(title) else row.text


def _lang_of(row: Taggable) -> str | None:
    lang = row.lang if isinstance(row, Document) else (row.metadata or {}).get("lang")
    return lang if isinstance(lang, str) else None


async def _tags_of(
    rows: Sequence[Taggable], wanted: Tagging, session: Session
) -> tuple[list[dict[str, list[str]]], list[TagChoice | None]]:
    """Return the tags of each row, and what the model said; None where none was asked."""
    none: list[TagChoice | None] = [None] * len(rows)
    texts = [_text_of(row) for row in rows]
    if not wanted.tags:
        return [{} for _ in rows], none
    if wanted.model is None:
        return [match_tags(text, wanted.tags) for text in texts], none
    ask, secret = await session.models.ask(wanted.model), session.secret()

    async def work(text: str) -> TagChoice:
        return await choose_tags(text, wanted.tags, ask, secret)

    chosen: list[TagChoice | None] = []
    with session.progress("tag", len(rows), session.state) as advance:
        async for choice in map_in_order(work, texts, session.stop):
            advance()
            chosen.append(choice)
    tags = [choice.value if choice and isinstance(choice.value, dict) else {} for choice in chosen]
    for tag in wanted.tags:
        if tag.values is None:
            merged = merge_spellings(value for some in tags for value in some.get(tag.key, []))
            tags = [
                {**some, tag.key: sorted({merged[value] for value in some[tag.key]})} if some else some
                for some in tags
            ]
    return tags, chosen


def merge_spellings(values: Iterable[str]) -> Mapping[str, str]:
    """Return for each value the spelling that it is merged into: the commonest of those that differ in case.

    Of equally common ones the first in the order of characters.
    """
    spellings: dict[str, Counter[str]] = {}
    for value in values:
        spellings.setdefault(value.casefold(), Counter())[value] += 1
    return {
        value: min(counts, key=lambda spelling: (-counts[spelling], spelling))
        for counts in spellings.values()
        for value in counts
    }


async def _topics_of(
    texts: Sequence[str], langs: Sequence[str | None], wanted: Tagging, session: Session
) -> tuple[list[TopicCount], list[TagChoice], list[str | None]]:
    """Return the topics, what the model said of each, and the name of each text's topic."""
    labels = await _labels(texts, langs, wanted, session)
    terms = topic_terms(texts, labels)
    names, named = topic_names(terms), []
    if wanted.model is not None:
        ask, secret = await session.models.ask(wanted.model), session.secret()
        members = [
            [text for text, at in zip(texts, labels, strict=True) if at == n] for n in range(len(terms))
        ]

        async def work(topic: int) -> TagChoice:
            return await name_topic(terms[topic], members[topic], ask, secret)

        with session.progress("name topics", len(terms), session.state) as advance:
            async for choice in map_in_order(work, range(len(terms)), session.stop):
                advance()
                named.append(choice)
        titles = [
            choice.value if isinstance(choice.value, str) else name
            for choice, name in zip(named, names, strict=True)
        ]
        names = unique_names(titles)
    sizes = Counter(labels.tolist())
    topics = [TopicCount(name=name, n_rows=sizes[n], terms=terms[n]) for n, name in enumerate(names)]
    return topics, named, [names[label] if label >= 0 else None for label in labels]


async def _labels(
    texts: Sequence[str], langs: Sequence[str | None], wanted: Tagging, session: Session
) -> Labels:
    n, seed = wanted.n_topics, wanted.seed
    if wanted.embedder:
        embed = session.embedder(wanted.embedder)
        with contextlib.suppress(NotEmbedded):  # a forecast, for which any grouping will do
            return await asyncio.to_thread(group_texts, texts, n, embed=embed, langs=langs, seed=seed)
    return await asyncio.to_thread(group_texts, texts, n, seed=seed)


def _metadata(
    row: Taggable,
    tags: dict[str, list[str]],
    topic: str | None,
    wanted: Tagging,
    choice: TagChoice | None,
) -> dict[str, object] | None:
    """Return a row's metadata with its topic and tags; those of an earlier tagging do not stay."""
    empty: dict[str, list[str]] = {tag.key: [] for tag in wanted.tags}
    try:
        metadata = with_tags(row.metadata, empty | tags) or {}
    except ValueError as mistake:
        raise DataError(f"row {row.id!r}: {mistake}") from None
    metadata.pop("tag_error", None)
    if choice is not None and choice.value is None:
        metadata["tag_error"] = f"{choice.status}: {choice.error}"
    if wanted.topics:
        metadata.pop("topic", None)
        if topic is not None:
            metadata["topic"] = topic
    return metadata or None


def _counts(tags: Sequence[dict[str, list[str]]], tag: Tag) -> dict[str, int]:
    counts = Counter(value for some in tags for value in some.get(tag.key, []))
    if tag.values is not None:
        return {value: counts[value] for value in tag.values}
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
