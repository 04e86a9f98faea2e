"""What a report card says in words, the same on its page and in the terminal."""

from ragstone.agreement import Disagreement, Group, ReportCard
from ragstone.agreement.card import Reversal, SystemRanking, grade_name
from ragstone.records import NO_MODEL
from ragstone.report.wording import interval, judge_name, number
from ragstone.statistics import Estimate

MEANINGS = {
    "exact agreement": "the same grade from both",
    "within one": "at most one step apart",
    "kappa": "agreement beyond chance",
    "linear kappa": "beyond chance, a near miss counts less",
    "quadratic kappa": "beyond chance, a far miss counts most",
    "alpha": "Krippendorff's, the judge as one more rater",
    "nominal alpha": "Krippendorff's, the judge as one more rater",
    "ordinal alpha": "the same, by rank",
    "interval alpha": "the same, by distance",
    "Pearson": "correlation of the values",
    "Spearman": "correlation of the ranks",
    "Kendall tau-b": "of two answers, the same order from both",
    "ROC AUC": "scores a right answer above a wrong one",
    "signed error": "judge minus people: above 0 lenient",
}


def title(card: ReportCard) -> str:
    """Return the judge, its metric and its model."""
    return judge_name(card) + ("" if card.model == NO_MODEL else f" by {card.model}")


def names(card: ReportCard) -> list[str]:
    """Return what each grade of the card is called."""
    return card.names or [grade_name(card.metric, grade, card.categories) for grade in card.categories]


def grade(card: ReportCard, value: float) -> str:
    """Return a score as it is shown: the name of the grade where it is one, else the number."""
    if card.threshold is None and value in card.categories:
        return names(card)[card.categories.index(value)]
    return number(value) if value != round(value) else f"{value:g}".replace("-", "−")


def human_grade(card: ReportCard, value: float) -> str:
    """Return people's grade, which no threshold cuts."""
    if value in card.categories:
        return names(card)[card.categories.index(value)]
    return grade(card, value)


def measures(card: ReportCard) -> dict[str, Estimate]:
    """Return the measures to show: of two grades all correlations are one, so one of them."""
    alike = ("Pearson", "Kendall tau-b") if len(card.categories) == 2 else ()
    return {name: estimate for name, estimate in card.agreement.items() if name not in alike}


def precise(value: float) -> str:
    """Return a value with three decimals, two from 20 on."""
    text = f"{value:z.1f}" if abs(value) >= 20 else f"{value:z.3f}"
    return text.replace("-", "−")


def with_interval(estimate: Estimate | None) -> str:
    """Return `0.91 (0.89 to 0.93)`, empty where there is no estimate."""
    return f"{number(estimate.value)} ({interval(estimate)})" if estimate else ""


def leading(groups: list[Group]) -> list[str]:
    """Return the measures of agreement that any of the groups has."""
    return list(dict.fromkeys(name for group in groups for name in group.agreement))


def tables_of(card: ReportCard) -> dict[str, list[Group]]:
    """Return the groups to show, by what they are grouped by: systems where there are several, then tags."""
    by_system = {"pair of systems" if card.metric == "preference" else "system": card.by_system}
    return {by: groups for by, groups in (by_system | card.by).items() if len(groups) > 1}


def ranking_told(ranking: SystemRanking) -> list[str]:
    """Return the two orders of the systems, and how far they can be relied on."""
    orders = [f"By people: {' > '.join(ranking.by_people)}."]
    if ranking.by_judge == ranking.by_people:
        orders = [f"By people and by the judge: {' > '.join(ranking.by_people)}."]
    else:
        orders.append(f"By the judge: {' > '.join(ranking.by_judge)}.")
    tau = "" if ranking.tau is None else f" Kendall's tau of the two orders is {number(ranking.tau)}."
    share = (
        f"In {100 * ranking.same_best:.0f} % of the bootstrap resamples the judge's best is people's best."
    )
    return [*orders, f"{share}{tau}"]


def reversal_told(one: Reversal) -> str:
    """Return a reversed pair with both differences."""
    return (
        f"{one.better} before {one.worse}: by people {with_interval(one.human)}, "
        f"by the judge {with_interval(one.judge)}"
    )


def calibration_told(card: ReportCard) -> list[str]:
    """Return how far the scores hold as probabilities; empty where they cannot be read so."""
    found = card.calibration
    if found is None:
        return []
    return [
        f"Expected calibration error {with_interval(found.error)}: how far the share of answers that people "
        "call right lies from the score, on average.",
        f"Brier score {with_interval(found.brier)}, 0 is best; the share of right answers, as the score "
        f"of every answer, reaches {number(found.rate_brier)}.",
    ]


def people_told(card: ReportCard) -> list[tuple[str, Estimate]]:
    """Return how people agree with each other, by the name of each measure; empty with one annotator."""
    people = card.humans
    if people is None:
        return []
    kappa = [("quadratic kappa", people.kappa)] if people.kappa else []
    return [("exact agreement", people.exact_agreement), *kappa, *people.alpha.items()]


def people_footing(card: ReportCard) -> str:
    """Return which answers people's figures and the judge's rest on; empty where they are the same."""
    alphas = [estimate for name, estimate in card.agreement.items() if name.endswith("alpha")]
    n_tied = alphas[0].n - card.n if alphas else 0
    if card.humans is None or not card.humans.alpha or n_tied <= 0:
        return ""
    return (
        f"Alpha, with and without the judge, is of the same {alphas[0].n:,} answers, {n_tied:,} of them with "
        "tied annotators. The judge's other measures leave tied answers out; people's own hold every answer "
        "with two annotators, so theirs read lower beside the judge's."
    )


def disagreement_head(card: ReportCard, one: Disagreement) -> str:
    """Return what people and the judge gave an answer, and whether people differ among themselves."""
    said = f"people {human_grade(card, one.human)}, judge {grade(card, one.judge)}"
    if not one.divided:
        return said
    return f"{said}; people differ: {', '.join(human_grade(card, given) for given in one.grades)}"
