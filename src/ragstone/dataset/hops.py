"""Questions over two documents: which passages go together, and whether a question needs both."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from numpy.random import Generator

from ragstone.corpus.tokens import search_terms
from ragstone.dataset.answering import find_answer
from ragstone.dataset.candidate import Candidate, Passage, lose, noted
from ragstone.llm import Ask, CallFailed

SearchPassages = Callable[[str], Awaitable[list[Passage]]]

MOST_PAIRS = 3  # that a passage is part of, so that no few passages make all questions
# Of the terms of the shorter text: two passages that share more say the same, and one of them is enough. The
# nearest of another document shares 0.38 (median) in agxqa, 0.43 in phoenix_docs, 0.24 in xquad; copies 0.9.
TOO_ALIKE = 0.6


async def pair_passages(
    passages: Sequence[Passage], search: SearchPassages, n: int, rng: Generator
) -> list[tuple[Passage, Passage]]:
    """Return up to n pairs of related passages, the two of a pair from different documents.

    Related is what `search` finds by the text of the first: the nearest that is no near duplicate. No pair
    comes twice, in either order, and no passage in more than MOST_PAIRS. Fewer than n where there are no
    more; in an order that depends on rng alone.
    """
    pairs: dict[frozenset[tuple[str, int]], tuple[Passage, Passage]] = {}
    used: Counter[tuple[str, int]] = Counter()
    # Round by round, so that all passages have had their turn before one has its second.
    for most in range(1, MOST_PAIRS + 1):
        for at in rng.permutation(len(passages)):
            first = passages[at]
            if len(pairs) >= n:
                return list(pairs.values())
            if used[_key(first)] >= most:
                continue
            for other in await search(first.text):
                key = frozenset((_key(first), _key(other)))
                if used[_key(other)] < most and key not in pairs and _related(first, other):
                    pairs[key] = (first, other)
                    used.update(key)
                    break
    return list(pairs.values())


async def needs_both(candidate: Candidate, *, ask: Ask, secret: bytes) -> Candidate:
    """Return the candidate, lost as `single_hop` where one of its passages alone answers it.

    A call for each passage, until one answers. A call that fails loses it as `not_criticised`. One that is
    lost already, or was written from one passage, is returned as it is. The reasons stand in metadata `hops`.
    """
    if candidate.loss is not None or len(candidate.passages) < 2:
        return candidate
    reasons: dict[str, str] = {}
    for passage in candidate.passages:
        try:
            found = await find_answer(candidate.question.question, [passage], ask=ask, secret=secret)
        except CallFailed as failure:
            return lose(candidate, "not_criticised", f"needs_both: {failure.status}, {failure}")
        reasons[passage.document_id] = found.reason.strip()
        if found.answered:
            alone = noted(candidate, hops=reasons)
            return lose(alone, "single_hop", f"{passage.document_id} alone: {found.reason.strip()}")
    return noted(candidate, hops=reasons)


def _key(passage: Passage) -> tuple[str, int]:
    return passage.document_id, passage.start


def _related(first: Passage, other: Passage) -> bool:
    """Return whether two passages are of different documents and one language, and do not say the same."""
    if first.document_id == other.document_id or first.lang != other.lang:
        return False
    terms, others = set(search_terms(first.text)), set(search_terms(other.text))
    fewer = min(len(terms), len(others))
    return fewer > 0 and len(terms & others) / fewer < TOO_ALIKE
