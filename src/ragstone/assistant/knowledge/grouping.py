"""Documents -> topics, in whatever language each is: those whose vectors point the same way."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from ragstone.assistant.knowledge.catalogue import Stored
from ragstone.corpus.topics import group_texts, topic_names, topic_terms, unique_names
from ragstone.embedding import Role, Vectors

FEWEST = 10  # documents: of fewer a list says more than topics


class Namer(msgspec.Struct, frozen=True):
    """Who names topics in place of their words. identity: a model, say.

    names: for each topic its terms and its texts -> its name, None where there is none; called in the thread
    of the build.
    """

    identity: str
    names: Callable[[Sequence[tuple[list[str], list[str]]]], list[str | None]]


def topics_of(stored: Sequence[Stored], namer: Namer | None = None) -> dict[str, str | None]:
    """Return the name of each document's topic, by id; all None where there are fewer than FEWEST documents.

    A document's vector is the mean of those of its passages, so that nothing is embedded for it.
    """
    if len(stored) < FEWEST:
        return {one.document.id: None for one in stored}
    texts = [f"{one.document.title}\n{one.document.text}" for one in stored]
    vectors = np.stack([one.vector for one in stored])

    def known(_texts: Sequence[str], _role: Role) -> Vectors:
        return vectors

    labels = group_texts(texts, embed=known, langs=[one.document.lang for one in stored])
    terms = topic_terms(texts, labels)
    names = topic_names(terms)
    if namer is not None:
        members = [
            [text for text, at in zip(texts, labels, strict=True) if at == n] for n in range(len(terms))
        ]
        given = namer.names(list(zip(terms, members, strict=True)))
        names = unique_names([name or words for name, words in zip(given, names, strict=True)])
    return {
        one.document.id: names[label] if label >= 0 else None
        for one, label in zip(stored, labels.tolist(), strict=True)
    }
