"""Questions that production left unanswered -> knowledge gaps: what the documents lack, most wanted first."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Literal

import msgspec

from ragstone.corpus.tokens import tokenize
from ragstone.corpus.topics import group_texts, topic_names, topic_terms
from ragstone.embedding.model import Embed

Why = Literal["unanswered", "unfaithful"]

EXAMPLES = 5  # of a gap, the most asked first
NEAREST = 5  # documents of a gap
MOST_TEXTS = 5_000  # different questions that are grouped: the most asked ones; grouping takes n log n


class Missed(msgspec.Struct, frozen=True, kw_only=True):
    """A question that got no answer, or one that its contexts do not support.

    who: the conversation or user, so that one person's ten tries are one person; the question's own id where
    the log does not tell. weight: how many exchanges it stands for (1 / its chance to be sampled). nearest:
    documents that were found for it, best first.
    """

    id: str
    question: str
    why: Why
    who: str
    day: date | None = None
    lang: str | None = None
    weight: float = 1.0
    nearest: tuple[str, ...] = ()


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A question of a gap as it was asked first, and by how many people. ids: of its exchanges."""

    question: str
    n_people: int
    why: Why
    ids: tuple[str, ...]


class NearDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document that was found for questions of a gap, and for how many: it is near, and lacks the
    answer."""

    document_id: str
    n_questions: int


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """What people asked and the documents do not hold.

    name: its distinguishing terms, or its one question. n_people: who asked; n_questions: exchanges that were
    judged; estimated: how many there were, where a sample was judged. first, last: days.
    """

    name: str
    terms: tuple[str, ...]
    n_people: int
    n_questions: int
    estimated: float
    unanswered: int
    unfaithful: int
    langs: dict[str, int]
    examples: tuple[Example, ...]
    nearest: tuple[NearDocument, ...]
    first: date | None
    last: date | None


def find_gaps(
    missed: Iterable[Missed], *, n_topics: int | None = None, embed: Embed | None = None, seed: int = 0
) -> list[Gap]:
    """Return the gaps, those that most people asked about first; empty where nothing was missed.

    Questions with the same words are one. Different ones are grouped by an embedder's vectors, across
    languages, or else by the terms that they share (corpus/topics.py). One that shares none with another is a
    gap by itself, and so, where the number is chosen, is each of a group that no term tells from the others.
    n_topics: how many groups; None chooses. Of more than MOST_TEXTS different questions the most asked are
    grouped, and each of the others is a gap by itself.
    """
    same: dict[tuple[str, ...], list[Missed]] = defaultdict(list)
    for one in missed:
        same[tuple(tokenize(one.question)) or (one.question,)].append(one)
    asked = sorted(same.values(), key=lambda each: (-_n_people(each), -len(each), each[0].id))
    grouped = asked[:MOST_TEXTS]
    members: dict[int, list[list[Missed]]] = defaultdict(list)
    alone = asked[MOST_TEXTS:]
    terms: list[list[str]] = []
    if len(grouped) > 1:
        texts = [each[0].question for each in grouped]
        chosen = None if n_topics is None else min(n_topics, len(grouped))
        labels = group_texts(texts, chosen, embed=embed, langs=[each[0].lang for each in grouped], seed=seed)
        terms = topic_terms(texts, labels)
        for label, each in zip(labels.tolist(), grouped, strict=True):
            (members[label] if label >= 0 and (n_topics or terms[label]) else alone).append(each)
    else:
        alone = asked
    names = topic_names(terms)
    gaps = [_gap(names[label], terms[label], questions) for label, questions in members.items()]
    gaps += [_gap(each[0].question, (), [each]) for each in alone]
    return sorted(gaps, key=lambda gap: (-gap.n_people, -gap.estimated, gap.name))


def _n_people(rows: Iterable[Missed]) -> int:
    return len({row.who for row in rows})


def _gap(name: str, terms: Sequence[str], questions: Sequence[Sequence[Missed]]) -> Gap:
    """Return the gap of these questions, each given as its exchanges."""
    rows = [row for each in questions for row in each]
    days = [row.day for row in rows if row.day is not None]
    near = Counter(document for row in rows for document in dict.fromkeys(row.nearest))
    return Gap(
        name=questions[0][0].question if len(questions) == 1 else name,
        terms=tuple(terms),
        n_people=_n_people(rows),
        n_questions=len(rows),
        estimated=sum(row.weight for row in rows),
        unanswered=sum(row.why == "unanswered" for row in rows),
        unfaithful=sum(row.why == "unfaithful" for row in rows),
        langs=dict(Counter(row.lang or "unknown" for row in rows).most_common()),
        examples=tuple(
            Example(
                question=each[0].question,
                n_people=_n_people(each),
                why=each[0].why,
                ids=tuple(row.id for row in each),
            )
            for each in questions[:EXAMPLES]
        ),
        nearest=tuple(
            NearDocument(document_id=document, n_questions=n) for document, n in near.most_common(NEAREST)
        ),
        first=min(days, default=None),
        last=max(days, default=None),
    )
