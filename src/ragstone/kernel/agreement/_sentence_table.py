"""What a report card may say of a judge: each sentence with its condition."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import msgspec

from ragstone.kernel.agreement.card import Baseline, HumanAgreement, SystemRanking, chance_corrected
from ragstone.kernel.decimals import decimal, signed_decimal, signed_decimals
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.tuned import made_with
from ragstone.kernel.records import Status, status_counts
from ragstone.kernel.sentences import Sentence, others
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.estimate import FEW_CLUSTERS

SHOWN_GROUPS = 5


class JudgeBesidePeople(msgspec.Struct, frozen=True, kw_only=True):
    """What the verdict of a card may rest on.

    agreement: of the card, by name. baselines: that the judge was compared with; empty where grades cannot be
    compared. yes: what grade 1 is called if grades are 0 and 1. only: what the one grade is called that
    people gave to every answer; None if they gave several.
    """

    agreement: Mapping[str, Estimate]
    baselines: Sequence[Baseline] = ()
    humans: HumanAgreement | None = None
    yes: str | None = None
    ranking: SystemRanking | None = None
    only: str | None = None

    @property
    def graded(self) -> bool:
        """Whether grades were compared, and people gave more than one."""
        return "exact agreement" in self.agreement and self.only is None

    def rivals(self, better: bool | None) -> list[str]:
        """Return the names of the baselines that the judge beats, does not beat, or may beat (None)."""
        return [rival.name for rival in self.baselines if rival.better is better]

    @property
    def error(self) -> Estimate | None:
        """The signed error if its interval leaves out 0."""
        error = self.agreement.get("signed error")
        if error is None or error.low is None or error.high is None or error.low <= 0 <= error.high:
            return None
        return error

    def rank(self, side: str) -> bool:
        """Return whether Spearman's interval is above 0, below 0, or `around` it; `none` without one."""
        spearman = self.agreement.get("Spearman")
        if spearman is None or "exact agreement" in self.agreement:
            return False
        if spearman.low is None or spearman.high is None:
            return side == "none"
        return side == ("above" if spearman.low > 0 else "below" if spearman.high < 0 else "around")


Facts = JudgeBesidePeople
VERDICTS = (
    "judge-better",
    "judge-no-better",
    "judge-better-than-some",
    "judge-cannot-tell",
    "labels-all-alike",
    "nothing-scored",
)
LEAD = "the chance-corrected agreement with people, from −1 to 1, with its interval and n"
EXACT = "the share of answers given people's grade, in percent, with its interval"
RIVALS = "the same share of each baseline, and the judge's minus it, in points, with its interval"


def _agrees(facts: Facts) -> dict[str, str]:
    exact = facts.agreement["exact agreement"]
    lead = chance_corrected(facts.agreement)
    first = "Kappa is undefined" if lead is None else f"{lead[0]} with people {_value(lead[1])}"
    return {
        "lead": f"{first} on {plural(exact.n, 'answer')}",
        "exact": _share(exact),
        "rivals": "".join(f", {_rival(baseline)}" for baseline in facts.baselines),
        "beaten": " and than ".join(facts.rivals(True)),
        "worse": " and ".join(facts.rivals(False)),
        "open": " or ".join(facts.rivals(None)),
    }


AGREES = "{lead}; exact agreement {exact}{rivals}."
AGREEMENT = {"lead": LEAD, "exact": EXACT, "rivals": RIVALS}

JUDGE_BETTER = Sentence[Facts](
    code="judge-better",
    text=f"Better than {{beaten}}: {AGREES}",
    when="people gave more than one grade, and against each baseline the interval of the paired difference "
    "in exact agreement is above 0 (without an interval: McNemar's exact test at the same level)",
    holds=lambda facts: (
        facts.graded and bool(facts.rivals(True)) and not (facts.rivals(False) or facts.rivals(None))
    ),
    needs={"beaten": "the baselines that it beats", **AGREEMENT},
    fills=_agrees,
    never_beside=others(VERDICTS, "judge-better"),
)
JUDGE_NO_BETTER = Sentence[Facts](
    code="judge-no-better",
    text=f"No better than {{worse}}: {AGREES}",
    when="people gave more than one grade, and against at least one baseline the interval of the paired "
    "difference is below 0, or no answer tells the two apart",
    holds=lambda facts: facts.graded and bool(facts.rivals(False)),
    needs={"worse": "the baselines that it does not beat", **AGREEMENT},
    fills=_agrees,
    never_beside=others(VERDICTS, "judge-no-better"),
)
JUDGE_BETTER_THAN_SOME = Sentence[Facts](
    code="judge-better-than-some",
    text=f"Better than {{beaten}}, but cannot tell whether it is better than {{open}}: {AGREES}",
    when="as judge-better against one baseline; against the other the interval includes 0",
    holds=lambda facts: (
        facts.graded and bool(facts.rivals(True) and facts.rivals(None)) and not facts.rivals(False)
    ),
    needs={
        "beaten": "the baselines that it beats",
        "open": "those where the interval includes 0",
        **AGREEMENT,
    },
    fills=_agrees,
    never_beside=others(VERDICTS, "judge-better-than-some"),
)
JUDGE_CANNOT_TELL = Sentence[Facts](
    code="judge-cannot-tell",
    text=f"Cannot tell whether it is better than {{open}}: {AGREES}",
    when="people gave more than one grade, and against every baseline the interval includes 0",
    holds=lambda facts: (
        facts.graded and bool(facts.rivals(None)) and not facts.rivals(True) and not facts.rivals(False)
    ),
    needs={"open": "the baselines", **AGREEMENT},
    fills=_agrees,
    never_beside=others(VERDICTS, "judge-cannot-tell"),
)


def _alike(facts: Facts) -> dict[str, str]:
    exact = facts.agreement["exact agreement"]
    return {"grade": str(facts.only), "exact": _share(exact), "n": plural(exact.n, "answer")}


LABELS_ALL_ALIKE = Sentence[Facts](
    code="labels-all-alike",
    text="Cannot tell: every label is '{grade}', so agreement beyond chance cannot be measured. The judge "
    "gives '{grade}' to {exact} of {n}; a judge that always says '{grade}' reaches 100 %.",
    when="people gave every labelled answer the same grade",
    holds=lambda facts: "exact agreement" in facts.agreement and facts.only is not None,
    needs={"grade": "the grade", "exact": EXACT, "n": "labelled answers"},
    fills=_alike,
    never_beside=others((*VERDICTS, "judge-lenient", "judge-harsh"), "labels-all-alike"),
)


def _by_rank(facts: Facts) -> dict[str, str]:
    spearman = facts.agreement["Spearman"]
    low, high = (decimal(end) for end in (spearman.low or 0.0, spearman.high or 0.0))
    rank = f"{decimal(spearman.value)}, {spearman.level * 100:g} % interval {low} to {high}"
    return {"rank": rank, "n": plural(spearman.n, "answer")}


RANKS = ("ranks-unknown", "ranks-alike", "ranks-reversed", "ranks-cannot-tell", "ranks-no-interval")
CANNOT = "Cannot tell how often it agrees with people (see the notes); "
RANK_NEEDS = {"rank": "Spearman's correlation with people, −1 to 1, with its interval", "n": "answers"}

RANKS_UNKNOWN = Sentence[Facts](
    code="ranks-unknown",
    text=f"{CANNOT}its scores or the labels are all the same.",
    when="grades cannot be compared, and Spearman's correlation is undefined",
    holds=lambda facts: "exact agreement" not in facts.agreement and "Spearman" not in facts.agreement,
    never_beside=others((*VERDICTS, *RANKS), "ranks-unknown"),
)
RANKS_NO_INTERVAL = Sentence[Facts](
    code="ranks-no-interval",
    text=f"{CANNOT}rank correlation with people {{rank}}.",
    when="grades cannot be compared, and Spearman's correlation has no interval",
    holds=lambda facts: facts.rank("none"),
    needs={"rank": RANK_NEEDS["rank"]},
    fills=lambda facts: {"rank": decimal(facts.agreement["Spearman"].value)},
    never_beside=others((*VERDICTS, *RANKS), "ranks-no-interval"),
)
RANKS_ALIKE = Sentence[Facts](
    code="ranks-alike",
    text=f"{CANNOT}its scores rise with people's (Spearman {{rank}}, on {{n}}).",
    when="grades cannot be compared, and the interval of Spearman's correlation is above 0",
    holds=lambda facts: facts.rank("above"),
    needs=RANK_NEEDS,
    fills=_by_rank,
    never_beside=others((*VERDICTS, *RANKS), "ranks-alike"),
)
RANKS_REVERSED = Sentence[Facts](
    code="ranks-reversed",
    text=f"{CANNOT}its scores fall where people's rise (Spearman {{rank}}, on {{n}}).",
    when="grades cannot be compared, and the interval of Spearman's correlation is below 0",
    holds=lambda facts: facts.rank("below"),
    needs=RANK_NEEDS,
    fills=_by_rank,
    never_beside=others((*VERDICTS, *RANKS), "ranks-reversed"),
)
RANKS_CANNOT_TELL = Sentence[Facts](
    code="ranks-cannot-tell",
    text=f"{CANNOT}nor whether its scores rise with people's at all (Spearman {{rank}}, on {{n}}).",
    when="grades cannot be compared, and the interval of Spearman's correlation includes 0",
    holds=lambda facts: facts.rank("around"),
    needs=RANK_NEEDS,
    fills=_by_rank,
    never_beside=others((*VERDICTS, *RANKS), "ranks-cannot-tell"),
)


def _leans(facts: Facts) -> dict[str, str]:
    error = facts.agreement["signed error"]
    return {
        "yes": f"{facts.yes}",
        "points": f"{100 * abs(error.value):.1f}",
        "grades": f"{abs(error.value):.2f}",
    }


LEANING = ("judge-lenient", "judge-harsh", "judge-lenient-grades", "judge-harsh-grades")
POINTS = {
    "yes": "what grade 1 is called",
    "points": "the judge's share of it minus people's, in points, without sign",
}
GRADES = {"grades": "mean of the judge's grade minus people's, in grades, without sign"}


def _leaning(facts: Facts, *, up: bool, yes: bool) -> bool:
    return facts.error is not None and (facts.error.value > 0) is up and bool(facts.yes) is yes


JUDGE_LENIENT = Sentence[Facts](
    code="judge-lenient",
    text="Lenient: it says '{yes}' more often than people, by {points} points.",
    when="grades are 0 and 1, and the interval of the signed error is above 0",
    holds=lambda facts: facts.graded and _leaning(facts, up=True, yes=True),
    needs=POINTS,
    fills=_leans,
    never_beside=others((*LEANING, "labels-all-alike"), "judge-lenient"),
)
JUDGE_HARSH = Sentence[Facts](
    code="judge-harsh",
    text="Harsh: it says '{yes}' less often than people, by {points} points.",
    when="grades are 0 and 1, and the interval of the signed error is below 0",
    holds=lambda facts: facts.graded and _leaning(facts, up=False, yes=True),
    needs=POINTS,
    fills=_leans,
    never_beside=others((*LEANING, "labels-all-alike"), "judge-harsh"),
)
JUDGE_LENIENT_GRADES = Sentence[Facts](
    code="judge-lenient-grades",
    text="Lenient: its grades are {grades} above people's on average.",
    when="scores and labels have one unit that is not 0 and 1, and the interval of the signed error is "
    "above 0",
    holds=lambda facts: facts.only is None and _leaning(facts, up=True, yes=False),
    needs=GRADES,
    fills=_leans,
    never_beside=others((*LEANING, "labels-all-alike"), "judge-lenient-grades"),
)
JUDGE_HARSH_GRADES = Sentence[Facts](
    code="judge-harsh-grades",
    text="Harsh: its grades are {grades} below people's on average.",
    when="scores and labels have one unit that is not 0 and 1, and the interval of the signed error is "
    "below 0",
    holds=lambda facts: facts.only is None and _leaning(facts, up=False, yes=False),
    needs=GRADES,
    fills=_leans,
    never_beside=others((*LEANING, "labels-all-alike"), "judge-harsh-grades"),
)


class SystemPairs(msgspec.Struct, frozen=True):
    """The pairs of systems whose means by people differ, and what becomes of them; a tie ranks nothing."""

    n_systems: int
    apart: int
    reversed: int
    tied: int
    judge_ties_all: bool
    people_tie_all: bool
    people_tie_some: bool


def pairs_of(ranking: SystemRanking) -> SystemPairs:
    """Return how many pairs of systems people's means order, and how many of these the judge's reverse or
    tie."""

    def pairs(groups: Sequence[Sequence[str]]) -> set[tuple[str, str]]:
        return {pair for group in groups for pair in combinations(sorted(group), 2)}

    n = len(ranking.by_people)
    apart = {*combinations(sorted(ranking.by_people), 2)} - pairs(ranking.tied_by_people)
    return SystemPairs(
        n_systems=n,
        apart=len(apart),
        reversed=len(ranking.reversals),
        tied=len(apart & pairs(ranking.tied_by_judge)),
        judge_ties_all=any(len(group) == n for group in ranking.tied_by_judge),
        people_tie_all=any(len(group) == n for group in ranking.tied_by_people),
        people_tie_some=bool(ranking.tied_by_people),
    )


def _ordered(systems: SystemPairs) -> dict[str, str]:
    of = f"{systems.apart} pair{'s' * (systems.apart > 1)} of systems"
    return {
        "systems": f"{systems.n_systems}",
        "everyone": "both systems" if systems.n_systems == 2 else f"all {systems.n_systems} systems",
        "pairs": of + (" whose means by people differ" if systems.people_tie_some else ""),
        "all": "all " if systems.apart > 1 else "",
        "reversed": f"{systems.reversed}",
        "tied": f"{systems.tied}",
    }


def _ranked(systems: SystemPairs) -> bool:
    return not (systems.judge_ties_all or systems.people_tie_all)


ORDERS = (
    "systems-tied-by-judge",
    "systems-tied-by-people",
    "order-same",
    "order-kept",
    "order-reversed",
    "order-tied",
    "order-reversed-and-tied",
)
PAIRS = {"pairs": "pairs of systems whose means by people differ"}

SYSTEMS_TIED_BY_JUDGE = Sentence[SystemPairs](
    code="systems-tied-by-judge",
    text="It gives {everyone} the same mean, so it does not rank them.",
    when="the judge's means of all systems are equal",
    holds=lambda systems: systems.judge_ties_all,
    needs={"everyone": "number of systems"},
    fills=_ordered,
    never_beside=others(ORDERS, "systems-tied-by-judge"),
)
SYSTEMS_TIED_BY_PEOPLE = Sentence[SystemPairs](
    code="systems-tied-by-people",
    text="People give {everyone} the same mean, so there is no order to compare.",
    when="people's means of all systems are equal, and the judge's are not",
    holds=lambda systems: systems.people_tie_all and not systems.judge_ties_all,
    needs={"everyone": "number of systems"},
    fills=_ordered,
    never_beside=others(ORDERS, "systems-tied-by-people"),
)
ORDER_SAME = Sentence[SystemPairs](
    code="order-same",
    text="On these answers, its means put the {systems} systems in people's order.",
    when="no two systems have the same mean, by people or by the judge, and no pair is reversed. It speaks "
    "of the means of the labelled answers; the card shows how often resamples agree on the best system",
    holds=lambda systems: (
        _ranked(systems) and not (systems.reversed or systems.tied or systems.people_tie_some)
    ),
    needs={"systems": "number of systems"},
    fills=_ordered,
    never_beside=others(ORDERS, "order-same"),
)
ORDER_KEPT = Sentence[SystemPairs](
    code="order-kept",
    text="On these answers, its means keep people's order in {all}{pairs}.",
    when="people give some systems the same mean; of the other pairs the judge reverses and ties none",
    holds=lambda systems: (
        _ranked(systems) and systems.people_tie_some and not (systems.reversed or systems.tied)
    ),
    needs={"all": "`all` for more than one pair", **PAIRS},
    fills=_ordered,
    never_beside=others(ORDERS, "order-kept"),
)
ORDER_REVERSED = Sentence[SystemPairs](
    code="order-reversed",
    text="On these answers, its means reverse people's order in {reversed} of {pairs}.",
    when="the judge's means put at least one pair in the other order than people's, and tie none",
    holds=lambda systems: _ranked(systems) and bool(systems.reversed) and not systems.tied,
    needs={"reversed": "pairs in the other order", **PAIRS},
    fills=_ordered,
    never_beside=others(ORDERS, "order-reversed"),
)
ORDER_TIED = Sentence[SystemPairs](
    code="order-tied",
    text="On these answers, it gives both systems the same mean in {tied} of {pairs}.",
    when="the judge ties at least one pair whose means by people differ, and reverses none",
    holds=lambda systems: _ranked(systems) and bool(systems.tied) and not systems.reversed,
    needs={"tied": "pairs with the same mean by the judge", **PAIRS},
    fills=_ordered,
    never_beside=others(ORDERS, "order-tied"),
)
ORDER_REVERSED_AND_TIED = Sentence[SystemPairs](
    code="order-reversed-and-tied",
    text="On these answers, its means reverse people's order in {reversed} of {pairs}, and are equal for "
    "both systems in {tied}.",
    when="the judge reverses at least one pair and ties at least one whose means by people differ",
    holds=lambda systems: _ranked(systems) and bool(systems.tied) and bool(systems.reversed),
    needs={**ORDER_REVERSED.needs, **ORDER_TIED.needs},
    fills=_ordered,
    never_beside=others(ORDERS, "order-reversed-and-tied"),
)


def _among(facts: Facts) -> dict[str, str]:
    humans = facts.humans
    if humans is None:
        return {}
    lead = chance_corrected(facts.agreement)
    # Of two grades all weights are one, and the judge's own measure has its short name.
    kappa = "pooled kappa" if lead and lead[0] == "kappa" else "pooled quadratic kappa"
    alpha = [f"{name} {_value(own)} on {plural(own.n, 'answer')}" for name, own in humans.alpha.items()]
    return {
        "beyond": f"{kappa} {_value(humans.kappa)}" if humans.kappa else next(iter(alpha), ""),
        "exact": _share(humans.exact_agreement),
        "n": plural(humans.n_answers, "answer"),
    }


AMONG = {"exact": "the share of pairs of annotators with the same grade, in percent", "n": "answers"}
PEOPLE_AGREE = Sentence[Facts](
    code="people-agree",
    text="Agreement among people: {beyond}; exact agreement {exact} on {n}.",
    when="at least one answer has two annotators, and kappa or alpha among people is defined",
    holds=lambda facts: facts.humans is not None and bool(facts.humans.kappa or facts.humans.alpha),
    needs={
        "beyond": "kappa over all pairs, or Krippendorff's alpha, with its interval",
        **AMONG,
    },
    fills=_among,
)
PEOPLE_AGREE_KAPPA_UNDEFINED = Sentence[Facts](
    code="people-agree-kappa-undefined",
    text="Agreement among people: pooled kappa is undefined; exact agreement {exact} on {n}.",
    when="at least one answer has two annotators, and neither kappa nor alpha among people is defined",
    holds=lambda facts: facts.humans is not None and not (facts.humans.kappa or facts.humans.alpha),
    needs=AMONG,
    fills=_among,
    never_beside=("people-agree",),
)


class Unscored(msgspec.Struct, frozen=True):
    """What became of the labelled answers, none of which has a score to compare."""

    statuses: Mapping[Status, int]
    n_tuned: int = 0


def _why(facts: Unscored) -> dict[str, str]:
    why = status_counts(facts.statuses)
    if facts.n_tuned and not why:
        why = f"{facts.n_tuned:,} left out, {made_with()}"
    return {"why": why or "all tied"}


NOTHING_SCORED = Sentence[Unscored](
    code="nothing-scored",
    text="Cannot tell: no labelled answer has a score to compare ({why}).",
    when="no labelled answer has both a score of the judge and one grade of people",
    holds=lambda facts: not facts.statuses.get("scored"),
    needs={"why": "answers by status, or that all are tied or were used to tune the judge"},
    fills=_why,
    never_beside=others((*VERDICTS, *RANKS), "nothing-scored"),
)


class CardNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """What the notes of a card may rest on.

    n, n_clusters: compared answers, and different questions (conversations) among them. small: groups of
    fewer than FEW_CLUSTERS questions, where there are several groups. n_unequal: answers whose labels say
    with what chance they were drawn, where the chances differ.
    """

    agreement: Mapping[str, Estimate] = {}
    graded: bool = False
    n: int = 0
    n_clusters: int = 0
    unit: str = "question"
    small: Sequence[str] = ()
    n_tuned: int = 0
    n_unequal: int = 0


KAPPA_UNDEFINED = Sentence[CardNumbers](
    code="kappa-undefined",
    text="Kappa is undefined: people and the judge gave the same grade every time.",
    when="grades were compared, and people and the judge gave the same grade to every answer",
    holds=lambda facts: facts.graded and "kappa" not in facts.agreement,
    never_beside=("judge-better",),
)
CORRELATION_UNDEFINED = Sentence[CardNumbers](
    code="correlation-undefined",
    text="Correlation is undefined: people or the judge gave the same grade every time.",
    when="Spearman's correlation is undefined",
    holds=lambda facts: "Spearman" not in facts.agreement,
    never_beside=("ranks-alike", "ranks-reversed", "ranks-cannot-tell", "ranks-no-interval"),
)
FEW_QUESTIONS = Sentence[CardNumbers](
    code="few-questions",
    text="Only {n}: intervals from so few are too narrow.",
    when=f"the answers are of fewer than {FEW_CLUSTERS} questions or conversations",
    holds=lambda facts: facts.n_clusters < FEW_CLUSTERS,
    needs={"n": "different questions or conversations"},
    fills=lambda facts: {"n": plural(facts.n_clusters, f"different {facts.unit}")},
    never_beside=("few-questions-in-groups",),
)
FEW_QUESTIONS_IN_GROUPS = Sentence[CardNumbers](
    code="few-questions-in-groups",
    text=f"Groups of fewer than {FEW_CLUSTERS} questions have intervals that are too narrow: {{groups}}.",
    when=f"the answers are of {FEW_CLUSTERS} questions or more, and a group of them is of fewer",
    holds=lambda facts: facts.n_clusters >= FEW_CLUSTERS and bool(facts.small),
    needs={"groups": f"at most {SHOWN_GROUPS} groups"},
    fills=lambda facts: {
        "groups": ", ".join(facts.small[:SHOWN_GROUPS]) + (", …" if len(facts.small) > SHOWN_GROUPS else "")
    },
    never_beside=("few-questions",),
)
TUNED_LEFT_OUT = Sentence[CardNumbers](
    code="tuned-left-out",
    text=f"Left out: {{n}} {made_with()}, as examples or to fit a threshold. They cannot test it.",
    when="at least one labelled answer is of a question that the judge was made with",
    holds=lambda facts: facts.n_tuned > 0,
    needs={"n": "labelled answers that are not counted"},
    fills=lambda facts: {"n": plural(facts.n_tuned, "labelled answer")},
)
DRAWN_UNEQUALLY = Sentence[CardNumbers](
    code="drawn-unequally",
    text="{unequal} of the {n} labelled answers were drawn with unequal chances. Every number on this card "
    "describes the judge on the labelled answers only, not on all answers. The corrected means account "
    "for the chances.",
    when="labels say with what chances their answers were drawn, and the chances differ",
    holds=lambda facts: facts.n_unequal > 0,
    needs={"unequal": "answers drawn with a chance that is known", "n": "labelled answers"},
    fills=lambda facts: {"unequal": f"{facts.n_unequal:,}", "n": f"{facts.n:,}"},
)


def _rival(baseline: Baseline) -> str:
    """Return the rival's agreement and the paired difference, in points of percent."""
    gap = baseline.difference
    text = f"{baseline.name} {_percent(baseline.exact_agreement.value)}"
    if gap.low is None or gap.high is None:
        return text
    ends = signed_decimals(100 * gap.low, 100 * gap.high, 1)
    points = signed_decimal(100 * gap.value, 1)
    return f"{text} (difference {points} points, {gap.level * 100:g} % interval {ends})"


def _share(estimate: Estimate) -> str:
    value = _percent(estimate.value)
    if estimate.low is None or estimate.high is None:
        return value
    low, high = _percent(estimate.low), _percent(estimate.high)
    return f"{value} ({estimate.level * 100:g} % interval {low} to {high})"


def _value(estimate: Estimate) -> str:
    value = decimal(estimate.value)
    if estimate.low is None or estimate.high is None:
        return f"{value} (no interval)"
    ends = f"{decimal(estimate.low)} to {decimal(estimate.high)}"
    return f"{value} ({estimate.level * 100:g} % interval {ends})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


HEADS = (
    LABELS_ALL_ALIKE,
    JUDGE_NO_BETTER,
    JUDGE_BETTER,
    JUDGE_BETTER_THAN_SOME,
    JUDGE_CANNOT_TELL,
    RANKS_UNKNOWN,
    RANKS_NO_INTERVAL,
    RANKS_ALIKE,
    RANKS_REVERSED,
    RANKS_CANNOT_TELL,
)
LEANINGS = (JUDGE_LENIENT, JUDGE_HARSH, JUDGE_LENIENT_GRADES, JUDGE_HARSH_GRADES)
ORDER_OF_SYSTEMS = (
    SYSTEMS_TIED_BY_JUDGE,
    SYSTEMS_TIED_BY_PEOPLE,
    ORDER_SAME,
    ORDER_KEPT,
    ORDER_REVERSED,
    ORDER_TIED,
    ORDER_REVERSED_AND_TIED,
)
NOTES = (
    TUNED_LEFT_OUT,
    DRAWN_UNEQUALLY,
    KAPPA_UNDEFINED,
    CORRELATION_UNDEFINED,
    FEW_QUESTIONS,
    FEW_QUESTIONS_IN_GROUPS,
)
SENTENCES = (
    *HEADS,
    NOTHING_SCORED,
    *LEANINGS,
    *ORDER_OF_SYSTEMS,
    PEOPLE_AGREE,
    PEOPLE_AGREE_KAPPA_UNDEFINED,
    *NOTES,
)
