"""Which chunks a question may find: by tag, by language, by topic."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from ragstone.records import Chunk, Question
from ragstone.retrieval.ranks import Subset


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """where: only chunks with these tags. match: only chunks that share the question's value of these tags.

    `lang` and `topic` are tags too. A question without a value of a tag in `match` is not restricted by it;
    a chunk without the tag is not found.
    """

    where: dict[str, str] = {}
    match: tuple[str, ...] = ()

    def of_question(self, question: Question) -> dict[str, str]:
        """Return the tags that chunks must have for this question."""
        own = {**(question.tags or {}), **({"lang": question.lang} if question.lang else {})}
        return {**self.where, **{key: own[key] for key in self.match if key in own}}


def chunk_tags(chunk: Chunk, key: str) -> list[str]:
    """Return the values that a chunk has of a tag: none, one or several.

    They stand in its metadata: `lang` and `topic` by themselves, all others under `tags`, each a text or a
    list of them (a leaflet may be about maize and wheat).
    """
    metadata = chunk.metadata or {}
    place = metadata if key in ("lang", "topic") else metadata.get("tags")
    value = place.get(key) if isinstance(place, dict) else None
    return value if isinstance(value, list) else [] if value is None else [str(value)]


def subset_of(chunks: Sequence[Chunk], where: Mapping[str, str]) -> Subset | None:
    """Return the chunks that have all of these tags; None where nothing is asked of them."""
    if not where:
        return None
    fitting = [
        position
        for position, chunk in enumerate(chunks)
        if all(value in chunk_tags(chunk, key) for key, value in where.items())
    ]
    return Subset(dict(where), np.array(fitting, dtype=np.int64))
