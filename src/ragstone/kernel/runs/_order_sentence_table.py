"""What may be said of an order: how far it depends on the questions, what a price buys."""

import msgspec

from ragstone.kernel.document.numbers import count
from ragstone.kernel.document.plots.tables import share_text
from ragstone.kernel.document.plots.values import Frontier
from ragstone.kernel.errors import plural
from ragstone.kernel.sentences import Sentence
from ragstone.kernel.statistics.ranks import RankShares


class RankFacts(msgspec.Struct, frozen=True):
    """What is said of an order. fixed: what every resample leaves as it is: "the rankings"."""

    ranks: RankShares
    fixed: str


def by_first(ranks: RankShares) -> list[tuple[float, str]]:
    """Return the share of resamples in which each has the highest mean, with its name, the largest first."""
    firsts = [(row[0], name) for row, name in zip(ranks.shares, ranks.names, strict=True)]
    return sorted(firsts, key=lambda pair: -pair[0])


def _first(facts: RankFacts) -> dict[str, str]:
    ranks = facts.ranks
    (share, name), (next_share, other) = by_first(ranks)[:2]
    alike = _alike(ranks)
    return {
        "name": name,
        "names": f"{', '.join(alike[:-1])} and {alike[-1]}",
        "share": share_text(share),
        "other": other,
        "next": share_text(next_share),
        "draws": count(ranks.resamples),
        "questions": plural(ranks.n, "question"),
        "fixed": facts.fixed,
    }


NEEDS = {
    "name": "what has the highest mean most often",
    "draws": "resamples of the questions, or of their documents where questions share one",
    "questions": "questions that all have a score of",
    "fixed": "what every resample leaves as it is: the rankings, or the answers and the judge",
}
NO_TEST = (
    "That is how far the order depends on the questions, with {fixed} as they are: it is no test of a "
    "difference."
)
OTHER = {
    **NEEDS,
    "share": "share of the resamples in which it has, ties divided",
    "other": "the one that has the highest mean second most often",
}


def _is_open(facts: RankFacts) -> bool:
    return len(facts.ranks.names) > 1 and by_first(facts.ranks)[0][0] < 1


def _alike(ranks: RankShares) -> list[str]:
    """Return those whose share reads as the first's: more digits would be the noise of the resamples."""
    firsts = by_first(ranks)
    return [name for share, name in firsts if share_text(share) == share_text(firsts[0][0])]


def _is_tied(facts: RankFacts) -> bool:
    """Whether the two that have the highest mean most often have it equally often."""
    return len(_alike(facts.ranks)) > 1


OFTEN_FIRST = Sentence[RankFacts](
    code="ranks-often-first",
    text="{name} has the highest mean in {share} of {draws} resamples of the same {questions}, {other} in "
    "{next}, ties divided. " + NO_TEST,
    when="two or more are ranked, no one has the highest mean in every resample, and one has it more often "
    "than each other",
    holds=lambda facts: _is_open(facts) and not _is_tied(facts),
    needs={**OTHER, "next": "share of the resamples in which it has"},
    fills=_first,
)
TIED_FIRST = Sentence[RankFacts](
    code="ranks-tied-first",
    text="{names} have the highest mean about equally often in {draws} resamples of the same "
    "{questions}, ties divided: in {share} each. " + NO_TEST,
    when="two or more are ranked, and two or more have the highest mean most often: their shares are the "
    "same as they are shown",
    holds=lambda facts: _is_open(facts) and _is_tied(facts),
    needs={
        **{name: OTHER[name] for name in ("draws", "questions", "fixed", "share")},
        "names": "all that have the highest mean that often",
    },
    fills=_first,
    never_beside=("ranks-often-first", "ranks-always-first"),
)
ALWAYS_FIRST = Sentence[RankFacts](
    code="ranks-always-first",
    text="{name} has the highest mean in each of {draws} resamples of the same {questions}, with {fixed} as "
    "they are: it is no test of a difference.",
    when="two or more are ranked, and one alone has the highest mean in every resample",
    holds=lambda facts: len(facts.ranks.names) > 1 and by_first(facts.ranks)[0][0] >= 1,
    needs=NEEDS,
    fills=_first,
    never_beside=("ranks-often-first",),
)
MOST_NAMES = 4


def _is_front(figure: Frontier, *, whole: bool) -> bool:
    n = sum(point.is_known and point.x is not None for point in figure.points)
    return figure.has_frontier and n > 1 and (len(figure.best) == n) is whole


def _names(figure: Frontier) -> dict[str, str]:
    names = [point.name for point in figure.best]
    more = len(names) - MOST_NAMES
    listed = ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return {"names": listed, "price": figure.across, "value": figure.upwards}


FRONT = {
    "names": "those with a known price that no other one beats: it would be as good and as cheap, and better "
    "on one of both; in the order of price",
    "price": "what is drawn to the right",
    "value": "what is drawn upwards",
}
NOT_BEATEN = Sentence[Frontier](
    code="plot-not-beaten",
    text="Not beaten on both {price} and {value}, by their values, ignoring the intervals: {names}.",
    when="two or more have a known price, and at least one is beaten: another one is as good and as cheap, "
    "and better on one of both",
    holds=lambda figure: _is_front(figure, whole=False),
    needs=FRONT,
    fills=_names,
)
NONE_BEATEN = Sentence[Frontier](
    code="plot-none-beaten",
    text="None is beaten on both {price} and {value}, by their values, ignoring the intervals.",
    when="two or more have a known price, and no other one beats any of them",
    holds=lambda figure: _is_front(figure, whole=True),
    needs={name: FRONT[name] for name in ("price", "value")},
    fills=_names,
    never_beside=("plot-not-beaten",),
)
SENTENCES = (OFTEN_FIRST, TIED_FIRST, ALWAYS_FIRST, NOT_BEATEN, NONE_BEATEN)
