"""Which questions are asked for: of each document how many, on which passages, in which styles."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from ragstone.dataset.candidate import Passage
from ragstone.dataset.passages import choose_passages
from ragstone.dataset.styles import Turn


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What one call asks for: n questions on a passage, in this turn.

    avoid: questions that are there already. sample: how often the passage's document was asked before.
    """

    passage: Passage
    turn: Turn
    n: int
    avoid: tuple[str, ...] = ()
    sample: int = 0


def plan_orders(
    passages: Sequence[Passage],
    turns: Sequence[Turn],
    wanted: Mapping[str, int],
    *,
    seed: int,
    sample: int = 0,
    written: Mapping[str, Sequence[str]] | None = None,
) -> list[Order]:
    """Return the calls that ask each document for as many questions as are wanted of it.

    wanted: document id -> questions, in the order of the calls; the turns go round, from document to document
    and from question to question. written: document id -> its questions so far.
    """
    of_document: dict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        of_document[passage.document_id].append(passage)
    orders = []
    for place, (document_id, n) in enumerate(wanted.items()):
        chosen = choose_passages(of_document[document_id], n, own_rng(seed, document_id, sample))
        counts: dict[tuple[int, int], int] = defaultdict(int)
        number = place
        for which, (_passage, n_here) in enumerate(chosen):
            for _ in range(n_here):
                counts[which, number % len(turns)] += 1
                number += 1
        avoid = tuple((written or {}).get(document_id, ()))
        orders += [
            Order(passage=chosen[which][0], turn=turns[turn], n=n_here, avoid=avoid, sample=sample)
            for (which, turn), n_here in counts.items()
        ]
    return orders


def shuffled(document_ids: Sequence[str], seed: int) -> list[str]:
    """Return the ids in an order of the seed, which does not depend on the order in which they are given."""
    return sorted(document_ids, key=lambda name: (_digest(f"{seed}\n{name}"), name))


def own_rng(seed: int, document_id: str, sample: int = 0) -> np.random.Generator:
    """Return a generator of this document's own: what is drawn for it does not depend on the others."""
    return np.random.default_rng([seed, sample, _digest(document_id)])


def _digest(text: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )
