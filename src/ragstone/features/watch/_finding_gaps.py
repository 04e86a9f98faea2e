"""Which gaps the documents have, by the monitor's store: found, named by a model if one is chosen, kept."""

import asyncio
import datetime
from collections.abc import Sequence

import msgspec

from ragstone.features.watch.gaps import (
    Gap,
    KeptGaps,
    Missed,
    find_gaps,
    keep_gaps,
    missed_in,
    scored_in,
)
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.config import Settings
from ragstone.kernel.corpus.model_tags import name_topic
from ragstone.kernel.corpus.topics import unique_names
from ragstone.kernel.engine.local import map_in_order
from ragstone.kernel.engine.session import PLAIN, Session, SessionOptions, run_in_session
from ragstone.kernel.files.language import detect_languages
from ragstone.kernel.records import Question
from ragstone.kernel.retrieval.search import build_search
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.stages.corpus import load_corpus

MOST_NAMED = 20
"""Gaps that a model is asked to name: those that most people asked about."""

NEAREST, CHUNKS = 5, 20


class FoundGaps(msgspec.Struct, frozen=True, kw_only=True):
    """All gaps, what is kept of them, and what naming them has asked."""

    gaps: list[Gap]
    kept: KeptGaps
    calls: Calls


def look_for_gaps(
    store: MonitorStore,
    settings: Settings,
    *,
    today: datetime.date,
    way: str = "",
    how: SessionOptions = PLAIN,
) -> FoundGaps:
    """Find the gaps of the last `gap_days` of the log and of what has no time, keep them, and return them.

    They are grouped by the vectors of its `embedder`, else by terms; its `gap_model` names those that most
    people asked about, within the caps. Where a log names no documents the nearest are
    those of `[documents]`, by BM25. way: kept beside them. Raises ConfigError, ModelError, MissingExtra.
    """
    section = settings.monitor
    last = store.last_day(today) or today
    since = last - datetime.timedelta(days=section.gap_days - 1)

    async def work(session: Session) -> FoundGaps:
        db = store.connection
        missed = missed_in(db, since=since, until=last, unfaithful_below=section.unfaithful_below)
        rows = await _with_nearest(_with_langs(missed), settings)
        embed = session.embedder(section.embedder) if section.embedder and rows else None
        gaps = await asyncio.to_thread(find_gaps, rows, embed=embed)
        if section.gap_model is not None:
            gaps = await _named(gaps, section.gap_model, session)
        stored = keep_gaps(
            store,
            gaps,
            found=today,
            since=since,
            way=way,
            untimed=sum(row.day is None for row in missed),
            scored=scored_in(db, since=since, until=last),
        )
        return FoundGaps(gaps=gaps, kept=stored, calls=session.calls())

    return run_in_session(settings, how, work)


def _with_langs(rows: Sequence[Missed]) -> list[Missed]:
    """Return the rows, those without a language with that of their question."""
    unknown = list(dict.fromkeys(row.question for row in rows if row.lang is None))
    langs = dict(zip(unknown, detect_languages(unknown), strict=True)) if unknown else {}
    return [
        msgspec.structs.replace(row, lang=langs[row.question]) if row.lang is None else row for row in rows
    ]


async def _with_nearest(rows: list[Missed], settings: Settings) -> list[Missed]:
    """Return the rows, those whose log names no document with the nearest of `[documents]`, if there are."""
    texts = list(dict.fromkeys(row.question for row in rows if not row.nearest))
    if not texts or not settings.documents.paths:
        return rows
    corpus = await asyncio.to_thread(load_corpus, settings)
    search = await build_search("bm25", corpus.chunks)
    rankings = await search([Question(id=str(at), question=text) for at, text in enumerate(texts)], CHUNKS)
    documents = (dict.fromkeys(item.document_id for item in ranking.items) for ranking in rankings)
    nearest_of = {text: tuple(some)[:NEAREST] for text, some in zip(texts, documents, strict=True)}
    return [
        row if row.nearest else msgspec.structs.replace(row, nearest=nearest_of[row.question]) for row in rows
    ]


async def _named(gaps: Sequence[Gap], model: str, session: Session) -> list[Gap]:
    """Return the gaps, the first of several questions with the name that a model gives them.

    One whose call failed keeps its terms for a name.
    """
    several = [at for at, gap in enumerate(gaps) if len(gap.examples) > 1][:MOST_NAMED]
    ask, secret = await session.models.ask(model), session.secret()

    async def work(at: int) -> str:
        reply = await name_topic(
            gaps[at].terms, [example.question for example in gaps[at].examples], ask, secret
        )
        return reply.value if isinstance(reply.value, str) else gaps[at].name

    names: list[str] = []
    with session.progress("name gaps", len(several), session.state) as advance:
        async for name in map_in_order(work, several, session.stop):
            advance()
            names.append(name)
    by_place = dict(zip(several, unique_names(names), strict=False))
    return [
        msgspec.structs.replace(gap, name=by_place[at]) if at in by_place else gap
        for at, gap in enumerate(gaps)
    ]
