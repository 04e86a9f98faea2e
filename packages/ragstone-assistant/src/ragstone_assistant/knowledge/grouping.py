"""Documents -> topics, in whatever language each is: those whose vectors point the same way."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from ragstone.kernel.corpus.topics import (
    group_texts,
    topic_names,
    topic_terms,
    unique_names,
    without_language,
)
from ragstone.kernel.embedding.model import Role, Vectors
from ragstone_assistant.knowledge._catalogue import Grouped, Stored

FEWEST = 10  # documents: of fewer a list says more than topics
MOST = 1000  # documents that are grouped: 20 s for 1,500
CHANGED = 0.1  # of the documents


class Namer(msgspec.Struct, frozen=True):
    """Who names topics in place of their words. identity: a model, say.

    names: for each topic its terms and its texts -> its name, None where there is none; called in the thread
    of the build.
    """

    identity: str
    names: Callable[[Sequence[tuple[list[str], list[str]]]], list[str | None]]


def group(
    stored: Sequence[Stored], before: Grouped | None, namer: Namer | None, *, anew: bool
) -> tuple[dict[str, str | None], Grouped]:
    """Return the name of each document's topic, by id, and what to remember of it.

    All are grouped where they never were, where more than CHANGED of them are others than then, where another
    namer is there, and `anew`. Else those without a topic join the one whose documents are nearest: names
    stay, and an upload does not wait. All None where there are fewer than FEWEST documents.
    """
    if len(stored) < FEWEST:
        return {entry.document.id: None for entry in stored}, Grouped(n_documents=0)
    n_fresh = sum(entry.topic is None for entry in stored)
    renamed = before is not None and namer is not None and namer.identity != before.namer
    if (
        before is None
        or anew
        or renamed
        or _n_changed(before, len(stored), n_fresh) > CHANGED * before.n_documents
    ):
        identity = None if namer is None else namer.identity
        return topics_of(stored, namer), Grouped(n_documents=len(stored), namer=identity)
    after = msgspec.structs.replace(before, n_since=before.n_since + n_fresh)
    return _joined(stored) if n_fresh else {entry.document.id: entry.topic for entry in stored}, after


def _n_changed(before: Grouped, n_now: int, n_fresh: int) -> int:
    n_come = before.n_since + n_fresh
    return max(n_come, before.n_documents + n_come - n_now)  # those that went, where they are more


def topics_of(stored: Sequence[Stored], namer: Namer | None = None) -> dict[str, str | None]:
    """Return the name of each document's topic, by id, found anew.

    A document's vector is the mean of those of its passages, so that nothing is embedded for it. Of more than
    MOST documents so many, evenly spaced, are grouped, and the others join them.
    """
    some = stored[:: -(-len(stored) // MOST)]
    texts = [f"{entry.document.title}\n{entry.document.text}" for entry in some]
    vectors = np.stack([entry.vector for entry in some])

    def known(_texts: Sequence[str], _role: Role) -> Vectors:
        return vectors

    labels = group_texts(texts, embed=known, langs=[entry.document.lang for entry in some])
    terms = topic_terms(texts, labels)
    names = topic_names(terms)
    if namer is not None:
        members = [
            [text for text, at in zip(texts, labels, strict=True) if at == n] for n in range(len(terms))
        ]
        named = namer.names(list(zip(terms, members, strict=True)))
        names = unique_names([name or by_words for name, by_words in zip(named, names, strict=True)])
    topics = {
        entry.document.id: names[label] if label >= 0 else None
        for entry, label in zip(some, labels.tolist(), strict=True)
    }
    return _joined([msgspec.structs.replace(entry, topic=topics.get(entry.document.id)) for entry in stored])


def _joined(stored: Sequence[Stored]) -> dict[str, str | None]:
    """Return the topics, where those without one have that whose documents are nearest in the mean.

    What all documents of a language share is left out before, as when they are grouped.
    """
    topics = sorted({entry.topic for entry in stored if entry.topic is not None})
    if not topics:
        return {entry.document.id: None for entry in stored}
    vectors = without_language(
        np.stack([entry.vector for entry in stored]), [entry.document.lang for entry in stored]
    )
    own = np.array([topics.index(entry.topic) if entry.topic is not None else -1 for entry in stored])
    centres = np.stack([vectors[own == at].mean(axis=0) for at in range(len(topics))])
    centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-9)
    nearest = (vectors @ centres.T).argmax(axis=1)
    return {
        entry.document.id: entry.topic or topics[at]
        for entry, at in zip(stored, nearest.tolist(), strict=True)
    }
