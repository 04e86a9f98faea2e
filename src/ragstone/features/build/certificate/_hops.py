"""What a certificate says of multi-hop questions: how many were kept, and why the others were not."""

from collections import Counter
from collections.abc import Sequence

from ragstone.kernel.dataset.candidate import Candidate
from ragstone.kernel.document.numbers import count
from ragstone.kernel.errors import plural

REASONS = {
    "single_hop": "answered with a document left out",
    "known_by_heart": "answered by the model without any document",
    "names_link": "named what links their documents",
}
"""The reasons that are about hops; of the others only the number is told."""


def hop_remarks(candidates: Sequence[Candidate]) -> list[str]:
    """Return how many of the multi-hop questions were kept and why others were lost; none without any."""
    hops = [candidate for candidate in candidates if (candidate.question.tags or {}).get("hops")]
    if not hops:
        return []
    losses = Counter(candidate.loss.reason for candidate in hops if candidate.loss)
    n_kept = len(hops) - losses.total()
    reasons = [f"{count(losses[reason])} {words}" for reason, words in REASONS.items() if losses[reason]]
    n_other = losses.total() - sum(losses[reason] for reason in REASONS)
    reasons += [f"{count(n_other)} for other reasons"] if n_other else []
    lost = f" Lost: {', '.join(reasons)}." if reasons else ""
    verdict = (
        " That the kept ones need every document is what the critics' model said: read them before you rely "
        "on it."
        if n_kept
        else ""
    )
    return [f"{plural(len(hops), 'multi-hop question')} written, {count(n_kept)} kept.{lost}{verdict}"]
