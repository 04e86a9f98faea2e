"""What a report card means, in plain words."""

from collections.abc import Mapping, Sequence

from ragstone.agreement.card import Baseline, HumanAgreement, SystemRanking
from ragstone.records import Status
from ragstone.statistics import Estimate


def better_than_all(baselines: Sequence[Baseline]) -> bool | None:
    """Return whether the judge beats every baseline; None if that cannot be told, or there is none."""
    answers = [baseline.better for baseline in baselines]
    if False in answers:
        return False
    return None if None in answers or not answers else True


def verdict(
    agreement: Mapping[str, Estimate],
    baselines: Sequence[Baseline],
    humans: HumanAgreement | None,
    yes: str | None,
    ranking: SystemRanking | None = None,
) -> str:
    """Return whether the judge is worth having, and the numbers that say so.

    baselines: those that it was compared with; empty where grades could not be compared, and then the
    verdict speaks of the order of the answers only. yes: what grade 1 is called if grades are 0 and 1.
    """
    if "exact agreement" not in agreement:
        leaning = _leaning(agreement.get("signed error"), yes)
        sentences = [_on_order(agreement.get("Spearman")), leaning, _order(ranking), _people(humans)]
        return " ".join(text for text in sentences if text)
    exact = agreement["exact agreement"]
    sentences = [f"{_headline(baselines)}: it agrees with people on {_share(exact)} of {exact.n:,} answers"]
    sentences[0] += "".join(f", {_rival(baseline)}" for baseline in baselines) + "."
    sentences += [_leaning(agreement.get("signed error"), yes), _order(ranking), _people(humans)]
    return " ".join(text for text in sentences if text)


def nothing_scored(statuses: Mapping[Status, int], n_tuned: int = 0) -> str:
    """Return the verdict on a judge none of whose judgements can be compared."""
    others = ", ".join(f"{n:,} {status}" for status, n in statuses.items())
    if n_tuned and not others:
        others = f"{n_tuned:,} left out: the judge was tuned on them"
    return f"Cannot tell: not one labelled answer has a score to compare ({others or 'all tied'})."


def one_grade_only(grade: str, agreement: Mapping[str, Estimate]) -> str:
    """Return the verdict where people gave every answer the same grade."""
    exact = agreement["exact agreement"]
    return (
        f"Cannot tell: every label is '{grade}', and such labels cannot tell a judge from a constant answer. "
        f"It agrees with people on {_share(exact)} of {exact.n:,} answers."
    )


def _headline(baselines: Sequence[Baseline]) -> str:
    beaten = [baseline.name for baseline in baselines if baseline.better]
    worse = [baseline.name for baseline in baselines if baseline.better is False]
    open_ = [baseline.name for baseline in baselines if baseline.better is None]
    if worse:
        return f"No better than {' and '.join(worse)}"
    if not open_:
        return f"Better than {' and than '.join(beaten)}"
    untold = f"annot tell whether it is better than {' or '.join(open_)}"
    return f"Better than {' and '.join(beaten)}, but c{untold}" if beaten else f"C{untold}"


def _rival(baseline: Baseline) -> str:
    """Return the rival's agreement and the paired difference, in points of percent."""
    gap = baseline.difference
    text = f"{baseline.name} on {_percent(baseline.exact_agreement.value)}"
    if gap.low is None or gap.high is None:
        return text
    low, high = _points(gap.low), _points(gap.high)
    return f"{text} (difference {_points(gap.value)} points, {gap.level * 100:g} % interval {low} to {high})"


def _share(estimate: Estimate) -> str:
    value = _percent(estimate.value)
    if estimate.low is None or estimate.high is None:
        return value
    low, high = _percent(estimate.low), _percent(estimate.high)
    return f"{value} ({estimate.level * 100:g} % interval {low} to {high})"


def _leaning(error: Estimate | None, yes: str | None) -> str:
    if error is None or error.low is None or error.high is None or error.low <= 0 <= error.high:
        return ""
    lenient = error.value > 0
    word = "Lenient" if lenient else "Harsh"
    if yes:
        often = "more" if lenient else "less"
        return f"{word}: it says '{yes}' {often} often than people, by {100 * abs(error.value):.1f} points."
    side = "above" if lenient else "below"
    return f"{word}: its grades lie {abs(error.value):.2f} {side} people's on average."


def _order(ranking: SystemRanking | None) -> str:
    if ranking is None:
        return ""
    n, reversed_ = len(ranking.by_people), len(ranking.reversals)
    if not reversed_:
        return f"It puts the {n} systems in people's order."
    return f"It reverses people's order in {reversed_} of {ranking.n_pairs} pairs of systems."


def _people(humans: HumanAgreement | None) -> str:
    if humans is None:
        return ""
    return (
        f"People agree with each other on {_share(humans.exact_agreement)} of {humans.n_answers:,} answers."
    )


def _on_order(spearman: Estimate | None) -> str:
    cannot = "Cannot tell how often it agrees with people, see the notes"
    if spearman is None:
        return f"{cannot}; its scores or the labels are all the same."
    if spearman.low is None or spearman.high is None:
        return f"{cannot}; rank correlation with people {_signed(spearman.value)}."
    rank = f"Spearman {_signed(spearman.value)}, {spearman.level * 100:g} % interval "
    rank += f"{_signed(spearman.low)} to {_signed(spearman.high)}"
    if spearman.low > 0:
        return f"{cannot}; its scores rise with people's ({rank})."
    if spearman.high < 0:
        return f"{cannot}; its scores fall where people's rise ({rank})."
    return f"{cannot}; nor whether its scores rise with people's at all ({rank})."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
