"""What a comparison may say of its verdicts and its gate: each sentence with its condition."""

import msgspec

from ragstone.features.compare._sizes import full_name, in_order, listed, metric_name, size_on
from ragstone.features.compare.values import Comparison, Gate, MetricComparison, Outcome
from ragstone.kernel.document.numbers import count, p_told, percent
from ragstone.kernel.errors import DataError, plural
from ragstone.kernel.judging.summary import BOUNDS_FROM
from ragstone.kernel.runs.settings import SettingDifference
from ragstone.kernel.sentences import Sentence, others
from ragstone.kernel.statistics.paired import Verdict

HEAVY = 1.2  # design effect from which on a reader should know of it
FEWEST = 10  # independent questions: how the scores of fewer vary does not say how many it takes


def is_unchanged(row: MetricComparison) -> bool:
    """Return whether no score differs, neither of the judge nor of people: then there is nothing to tell."""
    return not row.n_changed and not (row.corrected and row.corrected.n_differ)


class GateFacts(msgspec.Struct, frozen=True):
    """One metric at the gate. margin: as of Gate."""

    metric: MetricComparison
    margin: float | None

    @property
    def is_open(self) -> bool:
        """Whether scores decide: the application does not fail more, and not every answer is the same."""
        return not self.metric.by_application and not self.metric.same_answers

    @property
    def is_within(self) -> bool:
        """Whether B is shown not to be worse by more than the margin. Raises DataError without a scale."""
        metric, people = self.metric, self.metric.corrected
        estimate = people.corrected if people else metric.difference
        if self.margin is None or estimate.low is None or estimate.high is None:
            return False
        scale = people.scale if people else metric.scale
        if scale is None:
            raise DataError(
                f"{metric.judge}: its judgements state no scale, so a margin has no unit. Judge again by one "
                "that has a scale, or leave the margin out."
            )
        least = -estimate.high if metric.best == "lowest" else estimate.low  # of what B is better by
        return least > -self.margin * (scale[1] - scale[0])

    @property
    def is_worse(self) -> bool:
        """Whether scores decide, and B is shown to be worse, and not to be so within the margin."""
        return self.is_open and self.metric.verdict == "worse" and not self.is_within

    @property
    def is_fair(self) -> bool:
        """Whether scores decide, B is not worse, and enough questions have a score on both sides."""
        return self.is_open and not self.is_worse and not self.metric.loses_more and not self.is_patchy

    @property
    def is_patchy(self) -> bool:
        """Whether so many questions failed that a mean alone would not be shown without its bounds."""
        n_failed = self.metric.n_failed
        return n_failed > BOUNDS_FROM * (self.metric.n + n_failed)


def _named(comparison: Comparison, verdict: Verdict) -> list[str]:
    """Return the metrics with this verdict, where a score differs."""
    return [
        full_name(row, comparison) + (" (corrected by people's labels)" if row.corrected else "")
        for row in in_order(comparison)
        if row.verdict == verdict and not is_unchanged(row)
    ]


def _hidden(comparison: Comparison) -> MetricComparison | None:
    """Return the metric without a difference that can hide most; None where that is not known of each.

    Of a metric with labels `within` is the judge's alone, not what people may see. Questions without a score
    of both can hide more.
    """
    hidden = []
    for row in filter(is_unchanged, comparison.metrics):
        if row.within is None or row.scale is None or row.corrected or not _all_scored(row):
            return None
        hidden.append((row.within / (row.scale[1] - row.scale[0]), row))
    return max(hidden, key=lambda each: each[0])[1] if hidden else None


def _alike(comparison: Comparison) -> dict[str, str]:
    row = _hidden(comparison)
    return {
        "metrics": listed([full_name(row, comparison) for row in in_order(comparison) if is_unchanged(row)]),
        "hidden": size_on(row.within or 0.0, row.scale) if row else "",
    }


METRICS = {"metrics": "judges, with their metrics"}
WORSE_IN = Sentence[Comparison](
    code="compare-worse-in",
    text="B is worse in {metrics}",
    when="a score differs in these; B's mean is below A's, or people would see it so where labels are "
    "given; and p is at most 0.05, by Holm's correction over all metrics",
    holds=lambda comparison: bool(_named(comparison, "worse")),
    needs=METRICS,
    fills=lambda comparison: {"metrics": listed(_named(comparison, "worse"))},
)
BETTER_IN = Sentence[Comparison](
    code="compare-better-in",
    text="B is better in {metrics}",
    when="a score differs in these; B's mean is above A's, or people would see it so where labels are "
    "given; and p is at most 0.05, by Holm's correction over all metrics",
    holds=lambda comparison: bool(_named(comparison, "better")),
    needs=METRICS,
    fills=lambda comparison: {"metrics": listed(_named(comparison, "better"))},
)
CANNOT_TELL_IN = Sentence[Comparison](
    code="compare-cannot-tell-in",
    text="cannot tell whether B differs in {metrics}",
    when="a score differs in these, and p is above 0.05, or unknown",
    holds=lambda comparison: bool(_named(comparison, "cannot tell")),
    needs=METRICS,
    fills=lambda comparison: {"metrics": listed(_named(comparison, "cannot tell"))},
)
NO_DIFFERENCE_HIDDEN = Sentence[Comparison](
    code="compare-no-score-differs-hidden",
    text="no score differs in {metrics} (a difference of up to {hidden} could be hidden)",
    when="each question has a score in both, and the same, by each of these judges, which state a scale; and "
    "no labels are given for them",
    holds=lambda comparison: _hidden(comparison) is not None,
    needs={
        **METRICS,
        "hidden": "upper end of Wilson's 95 % interval of 0 of these questions (or documents), the exact "
        "bound of fewer than 7, on the scale of the metric where it is largest",
    },
    fills=_alike,
)
NO_DIFFERENCE = Sentence[Comparison](
    code="compare-no-score-differs",
    text="no score differs in {metrics}",
    when="as compare-no-score-differs-hidden, where one of the judges states no scale, has scored some "
    "questions on one side alone, or has labels, and people gave both answers the same, too",
    holds=lambda comparison: _hidden(comparison) is None and any(map(is_unchanged, comparison.metrics)),
    needs=METRICS,
    fills=_alike,
    never_beside=("compare-no-score-differs-hidden",),
)
OUTCOME = ((WORSE_IN,), (BETTER_IN,), (CANNOT_TELL_IN,), (NO_DIFFERENCE_HIDDEN, NO_DIFFERENCE))


def _holm(row: MetricComparison) -> str:
    return f", Holm over {row.family}" if row.family > 1 else ""


def _p(row: MetricComparison) -> dict[str, str]:
    people = row.corrected
    return {
        "p": p_told(row.p_holm),
        "test": f"{row.test}{_holm(row)}",
        "people": p_told(people.p_holm) if people and people.p_holm is not None else "",
        "holm": _holm(row),
    }


JUDGES = {
    "p": "of the paired test of the judge's scores, by Holm's correction over all metrics",
    "test": "the test, and how many metrics Holm's correction is over",
}
PEOPLES = {
    "people": "p that people would see no difference, by Holm's correction over all metrics",
    "holm": "over how many metrics",
    **JUDGES,
}
BY_PEOPLE = ", {people} (corrected by people's labels{holm}; by the judge alone: {p} ({test}))."


CODES = (
    *("compare-better", "compare-worse", "compare-cannot-tell", "compare-too-few-labelled"),
    *("compare-better-by-people", "compare-worse-by-people", "compare-cannot-tell-by-people"),
)
"""Verdicts on one metric: a paragraph has one of them at most."""


def _verdict(verdict: Verdict, *, labelled: bool) -> Sentence[MetricComparison]:
    """Return the sentence of a verdict, by the judge's scores or by people's labels."""
    own = f"compare-{verdict.replace(' ', '-')}{'-by-people' if labelled else ''}"
    bound = "above 0.05" if verdict == "cannot tell" else "at most 0.05"
    side = {
        "better": "; B's mean is above A's, below it where the lowest score is the best",
        "worse": "; B's mean is below A's, above it where the lowest score is the best",
    }.get(verdict, "")

    def holds(row: MetricComparison) -> bool:
        known = row.corrected is not None and row.corrected.p is not None
        decides = known if labelled else row.corrected is None
        return decides and row.verdict == verdict and not is_unchanged(row)

    return Sentence[MetricComparison](
        code=own,
        text=verdict + (BY_PEOPLE if labelled else ", {p} ({test})."),
        when=f"a score differs, and p is {bound}{side}, "
        + (
            "as people would see it: labels are given, and give a p"
            if labelled
            else "and no labels are given"
        ),
        holds=holds,
        needs=PEOPLES if labelled else JUDGES,
        fills=_p,
        never_beside=others(CODES, own),
    )


BETTER, WORSE, CANNOT_TELL = (_verdict(of, labelled=False) for of in ("better", "worse", "cannot tell"))
PEOPLE_BETTER, PEOPLE_WORSE, PEOPLE_CANNOT_TELL = (
    _verdict(of, labelled=True) for of in ("better", "worse", "cannot tell")
)
TOO_FEW = Sentence[MetricComparison](
    code="compare-too-few-labelled",
    text="cannot tell, too few pairs are labelled.",
    when="a score differs, and the labelled pairs are so few that they give no p",
    holds=lambda row: row.corrected is not None and row.corrected.p is None and not is_unchanged(row),
    never_beside=others(CODES, "compare-too-few-labelled"),
)
VERDICTS = (BETTER, WORSE, CANNOT_TELL, PEOPLE_BETTER, PEOPLE_WORSE, PEOPLE_CANNOT_TELL, TOO_FEW)


def _changed(row: MetricComparison) -> dict[str, str]:
    return {
        "questions": plural(row.n, "question"),
        "changed": count(row.n_changed),
        "scores": plural(row.n, "score"),
        "up": count(len(row.wrong_to_right)),
        "down": count(len(row.right_to_wrong)),
        "within": size_on(row.within, row.scale) if row.within is not None else "",
        "lost": count(row.lost),
        "gained": count(row.gained),
    }


CHANGED = {"changed": "questions whose score differs", "scores": "questions that both have scored"}
SAME_SCORES = Sentence[MetricComparison](
    code="compare-same-scores",
    text="No score differs in {questions}.",
    when="each question that both have scored has the same score in both",
    holds=lambda row: row.n_changed == 0,
    needs={"questions": CHANGED["scores"]},
    fills=_changed,
    never_beside=(*CODES[:3], "compare-scores-crossed", "compare-scores-differ"),
)
CROSSED = Sentence[MetricComparison](
    code="compare-scores-crossed",
    text="{changed} of {scores} differ: {up} from wrong to right, {down} from right to wrong.",
    when="a score differs, and at least one lies on the other side of the middle of the scale",
    holds=lambda row: row.n_changed > 0 and bool(row.wrong_to_right or row.right_to_wrong),
    needs={
        **CHANGED,
        "up": "questions below the middle in A, and not in B",
        "down": "questions below the middle in B, and not in A",
    },
    fills=_changed,
)
DIFFER = Sentence[MetricComparison](
    code="compare-scores-differ",
    text="{changed} of {scores} differ.",
    when="a score differs, and none lies on the other side of the middle of the scale, or none is known",
    holds=lambda row: row.n_changed > 0 and not row.wrong_to_right and not row.right_to_wrong,
    needs=CHANGED,
    fills=_changed,
)
CHANGES = (SAME_SCORES, CROSSED, DIFFER)
LOWEST = Sentence[MetricComparison](
    code="compare-lowest-is-best",
    text="Its lowest score is the best.",
    when="the judge's file says so, as the manifest has it, or it is one that ships",
    holds=lambda row: row.best == "lowest",
)


def _all_scored(row: MetricComparison) -> bool:
    """Whether each question has a score in both, apart from those that the metric is not applicable to."""
    return not (row.lost or row.gained or row.n_failed)


def _is_within(row: MetricComparison) -> bool:
    return row.n_changed == 0 and row.within is not None and row.corrected is None


WITHIN_NEEDS = {
    "within": "upper end of Wilson's 95 % interval of 0 of these questions (or documents), the exact bound "
    "of fewer than 7"
}
NOT_WITHIN = (*CODES, "compare-scores-crossed", "compare-scores-differ", "people-labelled-both")
WITHIN = Sentence[MetricComparison](
    code="compare-true-difference-at-most",
    text="The true difference is at most {within}, with 95 % confidence.",
    when="each question has a score in both, none differs, the judge states a scale, and no labels are "
    "given: with them people's interval says it",
    holds=lambda row: _is_within(row) and _all_scored(row),
    needs=WITHIN_NEEDS,
    fills=_changed,
    never_beside=NOT_WITHIN,
)
WITHIN_SCORED = Sentence[MetricComparison](
    code="compare-true-difference-of-scored",
    text="On questions that get a score in both, the true difference is at most {within}, with 95 % "
    "confidence.",
    when="as compare-true-difference-at-most, where some questions lack a score on one side or both",
    holds=lambda row: _is_within(row) and not _all_scored(row),
    needs=WITHIN_NEEDS,
    fills=_changed,
    never_beside=(*NOT_WITHIN, "compare-true-difference-at-most"),
)
LOSES_MORE = Sentence[MetricComparison](
    code="compare-loses-more",
    text="Caution: {lost} questions have a score in A only, and {gained} in B only. Those compared may be "
    "the easier ones.",
    when="B has more questions without a score than A, with p at most 0.05 over the number of metrics",
    holds=lambda row: row.loses_more,
    needs={"lost": "questions that A alone has scored", "gained": "questions that B alone has scored"},
    fills=_changed,
)


def _outlook(row: MetricComparison) -> dict[str, str]:
    outlook = row.outlook
    if outlook is None:
        return {}
    size, takes = size_on(outlook.effect, row.scale), _questions(outlook.for_effect)
    needed = f"{size}, you need {takes} questions"
    if row.n_changed and row.difference.value:
        seen = size_on(row.difference.value, row.scale)
        needed = (
            f"the {seen} seen, you need {_questions(outlook.for_observed)} questions; to find {size}, {takes}"
        )
    return {
        "questions": plural(row.n, "question"),
        "smallest": "" if outlook.smallest is None else size_on(outlook.smallest, row.scale),
        "power": f"{outlook.power * 100:g} %",
        "needed": needed,
        "worth": count(round(row.n / outlook.design_effect)),
    }


def _questions(n: int | None) -> str:
    """Return a number of questions with two digits that count: it rests on how the scores of some vary."""
    if n is None:
        return "more than ten million"
    step = 10 ** max(0, len(str(n)) - 2)
    return f"about {count(round(n / step) * step)}"


def _undecided(row: MetricComparison) -> bool:
    """Whether the judge's scores alone decide, and cannot tell, and it is known how they vary."""
    return row.verdict == "cannot tell" and row.corrected is None and row.outlook is not None


OUTLOOK = {
    "questions": "questions that both have scored",
    "power": "the chance of finding it",
}
FINDS = Sentence[MetricComparison](
    code="compare-would-find",
    text=("With {questions}, only differences of {smallest} or more are likely to be found ({power} power)."),
    when="neither better nor worse is shown, and no labels are given; a difference on the scale is large "
    "enough",
    holds=lambda row: _undecided(row) and row.outlook is not None and row.outlook.smallest is not None,
    needs={**OUTLOOK, "smallest": "smallest true difference that is found with this chance"},
    fills=_outlook,
)
FINDS_NONE = Sentence[MetricComparison](
    code="compare-would-find-none",
    text=("With {questions}, no difference on this scale is likely to be found ({power} power)."),
    when="as compare-would-find, and none on the scale is large enough",
    holds=lambda row: _undecided(row) and row.outlook is not None and row.outlook.smallest is None,
    needs=OUTLOOK,
    fills=_outlook,
    never_beside=("compare-would-find",),
)
TAKES = Sentence[MetricComparison](
    code="compare-questions-needed",
    text="To find {needed}.",
    when=f"as compare-would-find or compare-would-find-none, from {FEWEST} independent questions or more",
    holds=lambda row: _undecided(row) and row.n_clusters >= FEWEST,
    needs={
        "needed": "about how many questions for the difference that was seen, if there is one, and for the "
        "smallest that is worth finding"
    },
    fills=_outlook,
)
TAKES_UNKNOWN = Sentence[MetricComparison](
    code="compare-questions-needed-unknown",
    text="So few questions do not tell how many it takes to find one.",
    when=f"as compare-would-find or compare-would-find-none, from fewer than {FEWEST} independent questions",
    holds=lambda row: _undecided(row) and row.n_clusters < FEWEST,
    never_beside=("compare-questions-needed",),
)
TOGETHER = Sentence[MetricComparison](
    code="compare-documents-vary-together",
    text="Questions about one document vary together: they count as {worth} independent ones.",
    when="as compare-would-find or compare-would-find-none; and the variance is at least 1.2 times that of "
    "independent questions",
    holds=lambda row: _undecided(row) and row.outlook is not None and row.outlook.design_effect >= HEAVY,
    needs={"worth": "questions divided by this ratio"},
    fills=_outlook,
)


NEEDED = (TAKES, TAKES_UNKNOWN)
"""Questions that it would take: these belong to the caution before them."""
COUNTED, CAUTION = (
    (CHANGES, (WITHIN, WITHIN_SCORED)),
    ((LOSES_MORE,), (FINDS, FINDS_NONE), NEEDED, (TOGETHER,)),
)
"""Of each of these at most one is said, in this order; between them stands who scored how many."""


def _by(facts: GateFacts) -> dict[str, str]:
    return {
        "by": ", corrected by people's labels" if facts.metric.corrected else "",
        "lost": count(facts.metric.lost),
        "gained": count(facts.metric.gained),
    }


BY = {"by": "by whose scores, where labels decide"}
FAILS_MORE = Sentence[GateFacts](
    code="gate-fails-more",
    text="the application fails on more questions than before",
    when="B's application fails on more questions that A's answers than the other way, with p at most 0.05 "
    "over the number of metrics",
    holds=lambda facts: facts.metric.by_application,
)
GATE_WORSE = Sentence[GateFacts](
    code="gate-worse",
    text="worse{by}",
    when="not gate-fails-more or gate-same-answers; the verdict is worse, and there is no margin",
    holds=lambda facts: facts.is_worse and facts.margin is None,
    needs=BY,
    fills=_by,
)
GATE_WORSE_BY_MORE = Sentence[GateFacts](
    code="gate-worse-than-margin",
    text="worse{by}, and not shown to be within the margin",
    when="as gate-worse, with a margin; the interval of the difference reaches below it, or is unknown",
    holds=lambda facts: facts.is_worse and facts.margin is not None,
    needs=BY,
    fills=_by,
)
SAME_ANSWERS = Sentence[GateFacts](
    code="gate-same-answers",
    text="every answer is the same as before",
    when="both runs hold their answers, and each is the same with the same contexts; not gate-fails-more",
    holds=lambda facts: not facts.metric.by_application and bool(facts.metric.same_answers),
)
GATE_WITHIN = Sentence[GateFacts](
    code="gate-within-margin",
    text="not worse by more than the margin{by}",
    when="as gate-worse for the first; not gate-loses-more or gate-unscored; and the interval of "
    "the difference does not reach below the margin",
    holds=lambda facts: facts.is_fair and facts.is_within,
    needs=BY,
    fills=_by,
)
GATE_BETTER = Sentence[GateFacts](
    code="gate-better",
    text="better{by}",
    when="as gate-within-margin, but not shown to be within a margin; and the verdict is better",
    holds=lambda facts: facts.is_fair and not facts.is_within and facts.metric.verdict == "better",
    needs=BY,
    fills=_by,
)


def _is_unchanged_for_all(row: MetricComparison) -> bool:
    """Whether no score differs, and none that people did not give can."""
    is_known = row.corrected is None or row.corrected.n_labelled == row.n
    return row.verdict != "better" and is_unchanged(row) and is_known


GATE_UNCHANGED = Sentence[GateFacts](
    code="gate-no-score-changed",
    text="no score has changed{scored}",
    when="as gate-better, but each score is the same; where people's labels decide, they have labelled every "
    "question, and theirs are the same too",
    holds=lambda facts: facts.is_fair and not facts.is_within and _is_unchanged_for_all(facts.metric),
    needs={"scored": "that this is so where both have a score, if some questions lack one"},
    fills=lambda facts: {"scored": "" if _all_scored(facts.metric) else " where both have one"},
)
GATE_LOSES_MORE = Sentence[GateFacts](
    code="gate-loses-more",
    text="{lost} questions lost their score and {gained} gained one: the remaining questions may be the "
    "easier ones",
    when="not gate-fails-more, gate-same-answers or gate-worse; B has more questions without a score, with p "
    "at most 0.05 over the number of metrics",
    holds=lambda facts: facts.is_open and not facts.is_worse and facts.metric.loses_more,
    needs={"lost": "questions that A alone has scored", "gained": "questions that B alone has scored"},
    fills=_by,
)

GATE_UNSCORED = Sentence[GateFacts](
    code="gate-unscored",
    text="{failed} of {of} questions lack a score on one side or both: the remaining questions may be the "
    "easier ones",
    when="not gate-fails-more, gate-same-answers, gate-worse or gate-loses-more; and of more than "
    f"{percent(BOUNDS_FROM)} of the questions a judgement failed or is missing, on either side or both",
    holds=lambda facts: (
        facts.is_open and not facts.is_worse and not facts.metric.loses_more and facts.is_patchy
    ),
    needs={
        "failed": "questions without a score of both sides, apart from those the metric does not apply to",
        "of": "these and those with both scores",
    },
    fills=lambda facts: {
        "failed": count(facts.metric.n_failed),
        "of": count(facts.metric.n + facts.metric.n_failed),
    },
)

GATE_NONE_SCORED = Sentence[int](
    code="gate-none-scored",
    text="no question has a score on both sides",
    when="other metrics are compared, no question has both scores of this one, of at least one a judgement "
    "failed or is missing, and not every answer is the same",
    holds=lambda n_failed: n_failed > 0,
)


def _is_undecided(facts: GateFacts) -> bool:
    undecided = facts.metric.verdict == "cannot tell" and not _is_unchanged_for_all(facts.metric)
    return facts.is_fair and not facts.is_within and undecided


GATE_NEITHER = Sentence[GateFacts](
    code="gate-neither-shown",
    text="neither better nor worse is shown",
    when="the verdict is cannot tell, there is no margin, and nothing above decides",
    holds=lambda facts: _is_undecided(facts) and facts.margin is None,
)
GATE_MAY_BE_WORSE = Sentence[GateFacts](
    code="gate-may-be-worse",
    text="it may be worse by more than the margin",
    when="the verdict is cannot tell, not gate-no-score-changed, and the interval of the difference reaches "
    "below the margin, or is unknown",
    holds=lambda facts: _is_undecided(facts) and facts.margin is not None,
)
BECAUSE: dict[Outcome, tuple[Sentence[GateFacts], ...]] = {
    "failed": (FAILS_MORE, GATE_WORSE, GATE_WORSE_BY_MORE),
    "passed": (SAME_ANSWERS, GATE_WITHIN, GATE_BETTER, GATE_UNCHANGED),
    "cannot tell": (GATE_LOSES_MORE, GATE_UNSCORED, GATE_NEITHER, GATE_MAY_BE_WORSE),
}
"""Of each metric exactly one holds."""


def _reasons(gate: Gate) -> dict[str, str]:
    several = len({metric.system for metric in gate.metrics}) > 1
    reasons: dict[str, list[str]] = {}
    for row in gate.metrics:
        if row.outcome == gate.outcome:
            name = f"{metric_name(row)} of {row.system}" if several else metric_name(row)
            reasons.setdefault(row.because, []).append(name)
    return {
        "margin": "" if gate.margin is None else f" with a margin of {gate.margin:.4g} of the scale",
        "because": "; ".join(f"{because} ({', '.join(names)})" for because, names in reasons.items()),
    }


REASONS = {"margin": "share of the scale that B may be worse", "because": "reasons, each with its metrics"}
PASSED = Sentence[Gate](
    code="gate-passed",
    text="Gate: passed{margin}: {because}.",
    when="every metric passes",
    holds=lambda gate: all(row.outcome == "passed" for row in gate.metrics),
    needs=REASONS,
    fills=_reasons,
)
FAILED = Sentence[Gate](
    code="gate-failed",
    text="Gate: failed{margin}: {because}.",
    when="at least one metric fails",
    holds=lambda gate: any(row.outcome == "failed" for row in gate.metrics),
    needs=REASONS,
    fills=_reasons,
    never_beside=("gate-passed",),
)
UNDECIDED = Sentence[Gate](
    code="gate-cannot-tell",
    text="Gate: cannot tell{margin}: {because}.",
    when="no metric fails, and at least one neither passes nor fails",
    holds=lambda gate: not FAILED.holds(gate) and any(row.outcome == "cannot tell" for row in gate.metrics),
    needs=REASONS,
    fills=_reasons,
    never_beside=("gate-passed", "gate-failed"),
)
GATES = (FAILED, UNDECIDED, PASSED)


class ComparedAnswers(msgspec.Struct, frozen=True):
    """All metrics that are compared; of several systems each has its own answers."""

    rows: tuple[MetricComparison, ...]

    @property
    def vary(self) -> list[str]:
        """The systems of B whose answers are all the same as A's, and of which a score differs yet."""
        return [*dict.fromkeys(row.b.system for row in self.rows if row.same_answers and row.n_changed)]


JUDGE_VARIES = Sentence[ComparedAnswers](
    code="judge-varies",
    text="Both runs have the same answers and contexts, so where scores differ, the judge varies.",
    when="the runs hold their answers, each of every system is the same with the same contexts, and a score "
    "differs",
    holds=lambda facts: bool(facts.vary) and all(row.same_answers for row in facts.rows),
)
JUDGE_VARIES_OF = Sentence[ComparedAnswers](
    code="judge-varies-of-a-system",
    text="Both runs have the same answers and contexts for {systems}, so where those scores differ, the "
    "judge varies.",
    when="as judge-varies, of some of the systems that are compared",
    holds=lambda facts: bool(facts.vary) and not all(row.same_answers for row in facts.rows),
    needs={"systems": "systems, as B calls them"},
    fills=lambda facts: {"systems": listed(facts.vary)},
    never_beside=("judge-varies",),
)
VARIES = (JUDGE_VARIES, JUDGE_VARIES_OF)


class ComparedSettings(msgspec.Struct, frozen=True):
    """The settings that differ between the runs."""

    differing: tuple[SettingDifference, ...]

    @property
    def deciding(self) -> int:
        """How many of them can move the scores."""
        return sum(row.decides for row in self.differing)


SEVERAL_SETTINGS = Sentence[ComparedSettings](
    code="several-settings-differ",
    text="{settings} settings differ, so you cannot say which setting caused a difference. To find out, "
    "change one at a time.",
    when="at least two settings differ that can move the scores",
    holds=lambda facts: facts.deciding > 1,
    needs={"settings": "settings that differ and can move the scores"},
    fills=lambda facts: {"settings": count(facts.deciding)},
)
ONE_SETTING = Sentence[ComparedSettings](
    code="one-setting-differs",
    text="One setting differs: any difference in the answers is due to it or to chance.",
    when="one setting differs, and can move the scores",
    holds=lambda facts: facts.deciding == 1 and len(facts.differing) == 1,
    never_beside=("several-settings-differ",),
)
ONE_DECIDES = Sentence[ComparedSettings](
    code="one-setting-that-decides-differs",
    text="One setting that can move the scores differs: any difference in the answers is due to it or to "
    "chance.",
    when="several settings differ, of which one can move the scores",
    holds=lambda facts: facts.deciding == 1 and len(facts.differing) > 1,
    never_beside=("several-settings-differ", "one-setting-differs"),
)
NO_SETTING = Sentence[ComparedSettings](
    code="no-setting-differs",
    text="No setting differs: any difference in the answers is due to chance, or to something that a run "
    "does not record.",
    when="both runs record their settings, and none differs",
    holds=lambda facts: not facts.differing,
    never_beside=("several-settings-differ", "one-setting-differs", "one-setting-that-decides-differs"),
)
NONE_DECIDES = Sentence[ComparedSettings](
    code="no-setting-that-decides-differs",
    text="No setting that can move the scores differs: any difference in the answers is due to chance, or to "
    "something that a run does not record.",
    when="both runs record their settings, and of those that differ none can move the scores",
    holds=lambda facts: bool(facts.differing) and facts.deciding == 0,
    never_beside=(
        *("several-settings-differ", "one-setting-differs", "one-setting-that-decides-differs"),
        "no-setting-differs",
    ),
)
SETTINGS = (SEVERAL_SETTINGS, ONE_SETTING, ONE_DECIDES, NO_SETTING, NONE_DECIDES)
SENTENCES = (
    *(sentence for clause in OUTCOME for sentence in clause),
    *VERDICTS,
    *CHANGES,
    LOWEST,
    *(WITHIN, WITHIN_SCORED),
    LOSES_MORE,
    *(FINDS, FINDS_NONE, *NEEDED, TOGETHER),
    *(sentence for because in BECAUSE.values() for sentence in because),
    GATE_NONE_SCORED,
    *(*GATES, *VARIES, *SETTINGS),
)
