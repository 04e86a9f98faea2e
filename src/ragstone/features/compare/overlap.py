"""Two systems on the same questions -> which errors they share, and the documents that each answered from."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from ragstone.kernel.records import Context, RankingItem
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.mean import mean_estimates


class GivenDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document that an answer was made from. copy: whether it is a relevant one, or a copy of one."""

    place: int
    document_id: str
    lang: str | None = None
    copy: bool


class ErrorOverlap(msgspec.Struct, frozen=True, kw_only=True):
    """Which of two systems, A and B, is wrong: how many questions, and what share of the n that both scored.

    The intervals are of each share by itself. The rest of the n questions is right in both.
    """

    n: int
    n_only_a: int
    n_both: int
    n_only_b: int
    only_a: Estimate
    both: Estimate
    only_b: Estimate


def error_overlap(right: Sequence[tuple[bool, bool]], clusters: Sequence[str], *, seed: int) -> ErrorOverlap:
    """Return the overlap of errors. right: of each question, at least one, whether A is, and whether B is.

    clusters: one key a question, equal for questions that are not independent (of one document).
    """
    kinds = {
        "only_a": [not a and b for a, b in right],
        "both": [not a and not b for a, b in right],
        "only_b": [a and not b for a, b in right],
    }
    shares = mean_estimates(kinds, clusters, seed=seed)
    return ErrorOverlap(
        n=len(right),
        n_only_a=sum(kinds["only_a"]),
        n_both=sum(kinds["both"]),
        n_only_b=sum(kinds["only_b"]),
        only_a=shares["only_a"],
        both=shares["both"],
        only_b=shares["only_b"],
    )


def given_documents(
    items: Iterable[Context | RankingItem],
    relevant: Collection[str],
    same: Mapping[str, str],
    lang_of: Mapping[str, str] | None = None,
) -> list[GivenDocument]:
    """Return the documents of contexts or of a ranking, in their order; a context without one by its own id.

    relevant: the documents that the question names. same: see retrieval.same_documents. lang_of: document id
    -> its language.
    """
    wanted = {same.get(name, name) for name in relevant}
    names = [item.document_id or (item.id or "" if isinstance(item, Context) else "") for item in items]
    return [
        GivenDocument(
            place=rank, document_id=name, lang=(lang_of or {}).get(name), copy=same.get(name, name) in wanted
        )
        for rank, name in enumerate(names, 1)
    ]
