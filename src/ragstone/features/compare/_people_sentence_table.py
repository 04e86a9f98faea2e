"""What a comparison may say of people's labels, and of a judge's taste: each sentence with its condition."""

import msgspec

from ragstone.features.compare._sizes import Scale, size_on
from ragstone.features.compare.values import LabelCost, LengthSlope, MetricComparison
from ragstone.kernel.agreement.corrected_difference import CorrectedDifference
from ragstone.kernel.agreement.corrected_mean import FEW_LABELS
from ragstone.kernel.document.numbers import count, level, number, signed, signed_interval
from ragstone.kernel.errors import plural
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.sentences import Sentence
from ragstone.kernel.statistics import Estimate

SIDES = ("A", "B")
POINTS = 0.05  # of the scale: the half width whose price is named


def favoured(favour: Estimate | None) -> str | None:
    """Return the side that a judge is shown to favour; None of neither."""
    if favour is None or favour.low is None or favour.high is None:
        return None
    return SIDES[1] if favour.low > 0 else SIDES[0] if favour.high < 0 else None


class PeopleFacts(msgspec.Struct, frozen=True):
    """The metric and what labels make of it; sentences are said of metrics with labels alone."""

    row: MetricComparison
    people: CorrectedDifference

    @property
    def is_known(self) -> bool:
        """Whether the corrected difference has an interval."""
        return self.people.corrected.low is not None

    @property
    def adds(self) -> bool:
        """Whether enough labels give an interval, and the judge alone speaks of other questions."""
        return self.is_known and not self.is_rough and self.people.n_labelled < self.people.n_rows

    @property
    def is_rough(self) -> bool:
        """Whether the labelled pairs are too few to say what the judge adds, or what all labels would."""
        return self.people.n_labelled < FEW_LABELS

    @property
    def is_open(self) -> bool:
        """Whether the verdict is cannot tell, of a difference with an interval that is not 0."""
        return self.row.verdict == "cannot tell" and self.is_known and self.people.corrected.value != 0


def _people(facts: PeopleFacts) -> dict[str, str]:
    people, there = facts.people, facts.people.corrected
    halve = "" if people.to_halve is None else f"; halving the interval takes about {count(people.to_halve)}"
    return {
        "corrected": signed(there.value),
        "level": level(there),
        "ends": signed_interval(there),
        "judges": signed(facts.row.difference.value),
        "labelled": count(people.n_labelled),
        "questions": plural(people.n_rows, "question"),
        "pairs": plural(people.n_labelled, "labelled pair"),
        "worth": count(round(people.worth)),
        "needed": count(people.to_decide or 0),
        "halve": halve,
    }


SEEN = {
    "corrected": "B minus A as people would see it, in the unit of their labels",
    "judges": "B minus A by the judge's scores",
}
WOULD_SEE = Sentence[PeopleFacts](
    code="people-would-see",
    text="People would see {corrected} ({level} interval {ends}); the judge sees {judges}.",
    when="people have labelled both answers to enough questions for an interval",
    holds=lambda facts: facts.is_known,
    needs={**SEEN, "level": "of the interval, in percent", "ends": "its ends"},
    fills=_people,
)
WOULD_SEE_ROUGHLY = Sentence[PeopleFacts](
    code="people-would-see-no-interval",
    text="People would see {corrected} (no interval: too few pairs are labelled); the judge sees {judges}.",
    when="people have labelled both answers to some questions, but to too few for an interval",
    holds=lambda facts: not facts.is_known,
    needs=SEEN,
    fills=_people,
    never_beside=(
        *("people-would-see", "people-pairs-worth", "people-judge-no-surer"),
        *("people-all-labels-would-not-find", "people-labels-would-find"),
    ),
)
LABELLED = Sentence[PeopleFacts](
    code="people-labelled-both",
    text="People have labelled both answers to {labelled} of {questions}.",
    when="people have labelled both answers to some questions",
    holds=lambda facts: facts.people.n_labelled > 0,
    needs={
        "labelled": "questions with a label of both answers",
        "questions": "questions that the judge has scored in both",
    },
    fills=_people,
)
PAIRS = {"pairs": "questions with a label of both answers"}
WORTH = Sentence[PeopleFacts](
    code="people-pairs-worth",
    text="With the judge's scores, {pairs} are worth {worth}.",
    when="there is an interval, of 20 labelled pairs or more, not all are labelled, and without the judge "
    "more labelled pairs would be needed for it",
    holds=lambda facts: facts.adds and round(facts.people.worth) > facts.people.n_labelled,
    needs={**PAIRS, "worth": "labelled pairs that would give this interval without a judge"},
    fills=_people,
)
NO_SURER = Sentence[PeopleFacts](
    code="people-judge-no-surer",
    text="The judge's scores add no precision beyond {pairs} alone.",
    when="there is an interval, of 20 labelled pairs or more, not all are labelled, and as few labelled "
    "pairs give it without the judge",
    holds=lambda facts: facts.adds and round(facts.people.worth) <= facts.people.n_labelled,
    needs=PAIRS,
    fills=_people,
    never_beside=("people-pairs-worth",),
)
ALL_WOULD_NOT_DO = Sentence[PeopleFacts](
    code="people-all-labels-would-not-find",
    text="Even with all {questions} labelled, a difference this small would not be found with 80 % power: "
    "that takes more questions.",
    when="the verdict is cannot tell, the difference is not 0 and has an interval, of 20 labelled pairs or "
    "more or of all; and labels of all would not find one as large with 80 % power",
    holds=lambda facts: (
        facts.is_open
        and facts.people.to_decide is None
        and (not facts.is_rough or facts.people.n_labelled == facts.people.n_rows)
    ),
    needs={"questions": "questions that the judge has scored in both"},
    fills=_people,
)
WOULD_DO = Sentence[PeopleFacts](
    code="people-labels-would-find",
    text="Finding a difference this large takes about {needed} labelled pairs in all (80 % power){halve}.",
    when="the verdict is cannot tell, the difference is not 0 and has an interval; and that many labels "
    "would find one as large with 80 % power",
    holds=lambda facts: facts.is_open and facts.people.to_decide is not None,
    needs={
        "needed": "questions with a label of both answers",
        "halve": "how many halve the interval, where labels can",
    },
    fills=_people,
    never_beside=("people-all-labels-would-not-find",),
)
SEEN_BY_PEOPLE = ((WOULD_SEE, WOULD_SEE_ROUGHLY), (LABELLED,), (WORTH, NO_SURER))
"""Of each of these at most one is said, in this order."""
OUTLOOKS = (ALL_WOULD_NOT_DO, WOULD_DO)


class Favour(msgspec.Struct, frozen=True):
    """How much more a judge gives B than A beyond what people give, and more to a longer answer."""

    favour: Estimate | None
    scale: Scale
    length: LengthSlope | None = None

    @property
    def unknown_side(self) -> bool:
        """Whether the favour has an interval, and that holds 0."""
        known = self.favour is not None and self.favour.low is not None and self.favour.high is not None
        return known and favoured(self.favour) is None

    @property
    def longer(self) -> int | None:
        """1 if longer answers are shown to get more than people give, -1 less, 0 neither; None unknown."""
        slope = self.length.slope if self.length else None
        if slope is None or slope.low is None or slope.high is None:
            return None
        return 1 if slope.low > 0 else -1 if slope.high < 0 else 0


def _favour(facts: Favour) -> dict[str, str]:
    favour, scale = facts.favour, facts.scale
    if favour is None or favour.low is None or favour.high is None:
        return {}
    near, far = sorted((abs(favour.low), abs(favour.high)))
    return {
        "side": favoured(favour) or "",
        "favour": size_on(favour.value, scale),
        "level": level(favour),
        "near": size_on(near, scale),
        "far": size_on(far, scale),
        "for_b": size_on(favour.high, scale),
        "for_a": size_on(favour.low, scale),
    }


def _length(facts: Favour) -> dict[str, str]:
    length = facts.length
    if length is None or length.slope.low is None or length.slope.high is None:
        return {}
    near, far = sorted((abs(length.slope.low), abs(length.slope.high)))
    return {
        "slope": size_on(length.slope.value, facts.scale),
        "near": size_on(near, facts.scale),
        "far": size_on(far, facts.scale),
        "ratio": number(length.ratio),
    }


FAVOURS = Sentence[Favour](
    code="judge-favours-a-side",
    text="Compared with people, the judge favours {side} by {favour} ({level} interval {near} to {far}).",
    when="scores and labels have one unit, and the interval of the judge's difference less people's, over "
    "labelled pairs, does not hold 0",
    holds=lambda facts: favoured(facts.favour) is not None,
    needs={
        "side": "A or B",
        "favour": "mean of the judge's difference less people's, without its sign",
        "level": "of the interval, in percent",
        "near": "its end next to 0",
        "far": "its other end",
    },
    fills=_favour,
)
FAVOUR_NOT_SHOWN = Sentence[Favour](
    code="judge-favour-not-shown",
    text="It is not shown to favour one side, but up to {for_b} for B or {for_a} for A cannot be excluded.",
    when="as judge-favours-a-side, but the interval holds 0",
    holds=lambda facts: facts.unknown_side,
    needs={"for_b": "upper end of the interval", "for_a": "lower end, without its sign"},
    fills=_favour,
    never_beside=("judge-favours-a-side",),
)
LENGTH = {
    "slope": "what an answer that is twice as long is given more, or less, beyond what people give",
    "near": "end of its 95 % interval next to 0",
    "far": "the other end",
    "ratio": "median length of B's answers over that of A's",
}
LONGER_MORE = Sentence[Favour](
    code="judge-favours-length",
    text="It gives an answer twice as long {slope} more than people do ({near} to {far}); B's answers are "
    "{ratio} times as long as A's.",
    when="the judge errs in at least 10 labelled answers, and the interval of the slope of its errors on the "
    "logarithm of the length lies above 0",
    holds=lambda facts: facts.longer == 1,
    needs=LENGTH,
    fills=_length,
)
LONGER_LESS = Sentence[Favour](
    code="judge-favours-brevity",
    text="It gives an answer twice as long {slope} less than people do ({near} to {far}); B's answers are "
    "{ratio} times as long as A's.",
    when="as judge-favours-length, and the interval lies below 0",
    holds=lambda facts: facts.longer == -1,
    needs=LENGTH,
    fills=_length,
    never_beside=("judge-favours-length",),
)
MOST = {"far": "the end of the interval that is farther from 0, without its sign"}
NOR_LENGTH = Sentence[Favour](
    code="judge-nor-length",
    text="Nor is it shown to favour length, but up to {far} for an answer twice as long cannot be excluded.",
    when="after judge-favour-not-shown; as judge-favours-length, but the interval holds 0",
    holds=lambda facts: facts.longer == 0 and facts.unknown_side,
    needs=MOST,
    fills=_length,
    never_beside=("judge-favours-a-side", "judge-favours-length", "judge-favours-brevity"),
)
LENGTH_NOT_SHOWN = Sentence[Favour](
    code="judge-length-not-shown",
    text="It is not shown to favour length, but up to {far} for an answer twice as long cannot be excluded.",
    when="as judge-nor-length, where judge-favour-not-shown is not said",
    holds=lambda facts: facts.longer == 0 and not facts.unknown_side,
    needs=MOST,
    fills=_length,
    never_beside=(
        "judge-favour-not-shown",
        "judge-nor-length",
        "judge-favours-length",
        "judge-favours-brevity",
    ),
)
FAVOURING = ((FAVOURS, FAVOUR_NOT_SHOWN), (LONGER_MORE, LONGER_LESS, NOR_LENGTH, LENGTH_NOT_SHOWN))


class Taste(msgspec.Struct, frozen=True):
    """Metrics by one model (or by judges without one) without labels, and in which a score differs."""

    model: str
    rows: tuple[MetricComparison, ...]

    @property
    def costs(self) -> list[tuple[MetricComparison, LabelCost]]:
        """What labels would cost, of the metrics of which that is known."""
        return [(row, row.label_cost) for row in self.rows if row.label_cost]

    @property
    def observed(self) -> int | None:
        """The labelled pairs that find the difference seen; None of several metrics, or where it is 0."""
        return self.costs[0][1].for_observed if len(self.costs) == 1 else None


def _taste(facts: Taste) -> dict[str, str]:
    judges = list(dict.fromkeys(row.judge for row in facts.rows))
    shares = all(row.scale in (None, (0, 1)) for row, _ in facts.costs)
    return {
        "judges": ", ".join(judges),
        "model": facts.model,
        "ask": "asks" if len(judges) == 1 else "ask",
        "err": "it errs" if len(judges) == 1 else "they err",
        "pairs": f"{max((cost.for_half for _, cost in facts.costs), default=0):,}",
        "half": f"{POINTS * 100:g} {'points' if shares else '% of the scale'}",
        "observed": f"{facts.observed or 0:,}",
    }


NOT_EXCLUDED = Sentence[Taste](
    code="taste-not-excluded",
    text="Differences by {judges} are as {model} sees them. Without people's labels of both sides' answers "
    "(--labels), it cannot be excluded that its taste favours one side.",
    when="the judges ask this model, no labels correct what they say, a score differs, and an answer does",
    holds=lambda facts: bool(facts.rows) and facts.model != NO_MODEL,
    needs={"judges": "judges that ask the model", "model": "the model"},
    fills=_taste,
)
MAY_ERR = Sentence[Taste](
    code="baseline-may-err",
    text="{judges} {ask} no model. Without people's labels (--labels), it cannot be excluded that {err} more "
    "on one side because of its length or wording.",
    when="the judges ask no model and say better or worse; no labels correct what they say, and an answer "
    "differs",
    holds=lambda facts: bool(facts.rows) and facts.model == NO_MODEL,
    needs={"judges": "judges that ask no model", "ask": "a verb", "err": "another"},
    fills=_taste,
)
COST = {
    "pairs": "questions that people would have to label both answers to, of the metric that takes most",
    "half": "half of the interval",
}
COSTS_FOUND = Sentence[Taste](
    code="labels-would-cost-and-find",
    text="Without a judge, about {pairs} labelled pairs of answers give ± {half}, and {observed} find a "
    "difference this large (80 % power), if people's scores differ as often as the judge's.",
    when="as taste-not-excluded, with one metric on a known scale; B's mean is not A's",
    holds=lambda facts: facts.observed is not None and facts.model != NO_MODEL,
    needs={**COST, "observed": "such questions that find the judge's difference"},
    fills=_taste,
)
COSTS = Sentence[Taste](
    code="labels-would-cost",
    text="Without a judge, about {pairs} labelled pairs of answers give ± {half}, if people's scores differ "
    "as often as the judge's.",
    when="as taste-not-excluded, with several metrics on known scales, or one in which the means are equal",
    holds=lambda facts: bool(facts.costs) and facts.observed is None and facts.model != NO_MODEL,
    needs=COST,
    fills=_taste,
)
PRICE = (COSTS_FOUND, COSTS)


class Kin(msgspec.Struct, frozen=True):
    """The models that answer on the two sides, None where unknown, their families, and the judge's own."""

    row: MetricComparison
    models: tuple[str | None, str | None]
    families: tuple[str | None, str | None]
    own: str | None

    @property
    def side(self) -> int | None:
        """The side whose model alone is of the judge's family; None where both are, or one is unknown."""
        kin = [family == self.own for family in self.families]
        if self.own is None or not all(self.models) or sum(kin) != 1:
            return None
        return kin.index(True)


def _kin(facts: Kin) -> dict[str, str]:
    at = facts.side or 0
    return {
        "kin": facts.models[at] or "",
        "side": SIDES[at],
        "family": facts.own or "",
        "other": facts.models[1 - at] or "",
        "judge": facts.row.judge,
    }


FAMILY = {
    "kin": "the model that answers on the one side",
    "side": "A or B",
    "family": "of models, as their names tell it",
    "other": "the model that answers on the other side",
}
OWN_FAMILY = Sentence[Kin](
    code="judge-of-one-sides-family",
    text="{kin}, which answers in {side}, is of the judge's model family ({family}); {other} is not. Judges "
    "tend to favour their own family.",
    when="the models of both sides are known, one alone is of the family of the judge's, a score differs, "
    "and no labels are given",
    holds=lambda facts: facts.side is not None and facts.row.corrected is None,
    needs=FAMILY,
    fills=_kin,
)
FAVOURS_OWN = Sentence[Kin](
    code="judge-favours-its-family",
    text="{kin}, which answers in {side}, is of the judge's model family ({family}); {other} is not. "
    "People's labels show that {judge} favours {side}.",
    when="as judge-of-one-sides-family, but labels are given; and as judge-favours-a-side, for this side",
    holds=lambda facts: (
        facts.side is not None
        and facts.row.corrected is not None
        and favoured(facts.row.corrected.flattery) == SIDES[facts.side]
    ),
    needs={**FAMILY, "judge": "the judge"},
    fills=_kin,
)
KIN = (OWN_FAMILY, FAVOURS_OWN)
SENTENCES = (
    *(sentence for sentences in SEEN_BY_PEOPLE for sentence in sentences),
    *OUTLOOKS,
    *(sentence for sentences in FAVOURING for sentence in sentences),
    *(NOT_EXCLUDED, MAY_ERR, *PRICE),
    *KIN,
)
