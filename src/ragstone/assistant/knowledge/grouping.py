"""Documents -> topics, in whatever language each is: those whose vectors point the same way."""

from collections.abc import Sequence

import numpy as np

from ragstone.assistant.knowledge.catalogue import Stored
from ragstone.corpus.topics import group_texts, topic_names, topic_terms
from ragstone.embedding import Role, Vectors

FEWEST = 10  # documents: of fewer a list says more than topics


def topics_of(stored: Sequence[Stored]) -> dict[str, str | None]:
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
    names = topic_names(topic_terms(texts, labels))
    return {
        one.document.id: names[label] if label >= 0 else None
        for one, label in zip(stored, labels.tolist(), strict=True)
    }
