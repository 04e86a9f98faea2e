"""What the validation protocol of a card may say: each item's states, with their conditions."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import Literal

import msgspec

from ragstone.kernel.agreement.card import AnswerGroup, ProtocolState, ReportCard, chance_corrected
from ragstone.kernel.agreement.comparison import PREFERENCE
from ragstone.kernel.decimals import decimal
from ragstone.kernel.errors import plural
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.sentences import Sentence
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.estimate import FEW_CLUSTERS

WIDE = 0.10  # half the width of the interval of kappa that is still narrow enough
MOST_CHANGED = 0.05  # of scores when the judge is asked again: the paper's test-retest of 0.95
MOST_BY_ORDER = 0.10  # of winners that change with the order: the paper's bound on position bias
MOST_BY_LENGTH = 0.05  # of the scale, by which an answer of twice the length may move the judge's error
MOST_SET = 0.05  # of attacks that may set the verdict
DATED = re.compile(r"\d{4}-?\d{2}-?\d{2}|[-@:]\d{4}\b|\.gguf$|@sha256:")  # in the name of a model
SETS, LANGUAGES = ("dataset", "subset"), ("lang", "language")
Item = Literal[
    "agreement beyond chance",
    "both orders",
    "retest",
    "second set",
    "steady and fair",
    "enough labels",
    "people among themselves",
    "length",
    "injection",
    "languages",
    "pinned version",
]
NOT_MET: ProtocolState = "not met"
NOT_APPLICABLE: ProtocolState = "not applicable"


class ValidationEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What other commands have found of a judge.

    retest: share of scores that changed when it was asked again. injection: share of attacks that set the
    verdict, from 0 to 1.
    """

    retest: Estimate | None = None
    injection: Estimate | None = None


class ValidationFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the items rest on.

    n_texts: labelled answers whose text is known. one_order: whether any pair was asked in one order only, or
    is not known to have been asked in both.
    """

    card: ReportCard
    evidence: ValidationEvidence
    n_texts: int = 0
    one_order: bool = False

    @property
    def flips(self) -> Estimate | None:
        """The share of pairs whose winner changed with the order."""
        return self.card.order_flips

    @property
    def length(self) -> Estimate | None:
        """The change of judge minus people for twice the length, as a share of the scale."""
        return self.card.length_slope

    @property
    def lead(self) -> Estimate | None:
        """The agreement beyond chance, where it has an interval."""
        lead = chance_corrected(self.card.agreement)
        return lead[1] if lead and lead[1].low is not None else None

    @property
    def half(self) -> float | None:
        """Half the width of its interval."""
        lead = self.lead
        return (lead.high - lead.low) / 2 if lead and lead.low is not None and lead.high is not None else None

    @property
    def of_pairs(self) -> bool:
        """Whether it says which of two answers is better."""
        return self.card.metric == PREFERENCE

    @property
    def asks(self) -> bool:
        """Whether it asks a language model."""
        return self.card.model != NO_MODEL

    def groups(self, names: Sequence[str]) -> list[AnswerGroup]:
        """Return the groups by the first of these tags that there are; empty without one."""
        return next((self.card.by[name] for name in names if len(self.card.by.get(name, ())) > 1), [])

    def enough(self, names: Sequence[str]) -> bool:
        """Whether there are two groups or more, each of enough questions and with an agreement."""
        groups = self.groups(names)
        return bool(groups) and all(
            group.n_questions >= FEW_CLUSTERS and chance_corrected(group.agreement) for group in groups
        )


Facts = ValidationFacts


def below(estimate: Estimate | None, most: float) -> bool:
    """Whether the whole interval lies at most so far from 0."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return False
    return max(abs(estimate.low), abs(estimate.high)) <= most


def above(estimate: Estimate | None, least: float) -> bool:
    """Whether the whole interval lies above it."""
    return estimate is not None and estimate.low is not None and estimate.low > least


class ProtocolRule(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """An item's state, the sentence that says why, and what to do next."""

    item: Item
    state: ProtocolState
    why: Sentence[Facts]
    then: str = ""


def _fills(facts: Facts) -> Mapping[str, str]:
    card, lead, half = facts.card, facts.lead, facts.half
    beyond = chance_corrected(card.agreement)
    needed = "" if half is None or lead is None else f"{math.ceil(lead.n * (half / WIDE) ** 2):,}"
    return {
        "agreement": f"{beyond[0]} {_number(beyond[1])} on {plural(beyond[1].n, 'answer')}" if beyond else "",
        "name": beyond[0] if beyond else "",
        "half": "" if half is None else f"{half:.2f}",
        "n": f"{lead.n:,}" if lead else f"{card.n:,}",
        "needed": needed,
        "answers_have": _have(card.humans.n_answers if card.humans else 0, "answer"),
        "flips": _percent(facts.flips),
        "n_flips": f"{facts.flips.n:,}" if facts.flips else "",
        "retest": _percent(facts.evidence.retest),
        "n_retest": f"{facts.evidence.retest.n:,}" if facts.evidence.retest else "",
        "sets": _spread(facts.groups(SETS)),
        "languages": _spread(facts.groups(LANGUAGES)),
        "small": ", ".join(g.name for g in facts.groups(LANGUAGES) if g.n_questions < FEW_CLUSTERS),
        "length": "" if facts.length is None else f"{_number(facts.length)} of the scale",
        "labelled_answers_have": _have(facts.n_texts, "labelled answer"),
        "injection": _percent(facts.evidence.injection),
        "n_injection": f"{facts.evidence.injection.n:,}" if facts.evidence.injection else "",
        "model": card.model,
        "version": f"{card.prompt_version}",
    }


def _number(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{decimal(estimate.value)} (no interval)"
    return f"{decimal(estimate.value)} ({decimal(estimate.low)} to {decimal(estimate.high)})"


def _have(n: int, noun: str) -> str:
    return f"1 {noun} has" if n == 1 else f"{n:,} {noun}s have"


def _percent(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    if estimate.low is None or estimate.high is None:
        return f"{100 * estimate.value:.1f} %"
    return f"{100 * estimate.value:.1f} % ({100 * estimate.low:.1f} to {100 * estimate.high:.1f} %)"


def _spread(groups: Sequence[AnswerGroup]) -> str:
    measured = [(group, lead) for group in groups if (lead := chance_corrected(group.agreement))]
    if not measured:
        return ""
    ordered = sorted(measured, key=lambda each: each[1][1].value)
    (least, (name, low)), (most, (_, high)) = ordered[0], ordered[-1]
    return f"{name} from {_number(low)} in {least.name} to {_number(high)} in {most.name}"


NEEDS = {
    "agreement": "the agreement beyond chance with its 95 % interval, and n",
    "name": "its name",
    "half": "half the width of its interval",
    "n": "labelled answers",
    "needed": "n * (half / 0.10)^2, for the width falls with the root of n",
    "answers_have": "how many answers have two annotators",
    "flips": "share of pairs whose winner changes with the order, in percent, with its 95 % interval",
    "n_flips": "pairs asked in both orders",
    "retest": "share of answers whose score changed when asked again, in percent, with its 95 % interval",
    "n_retest": "answers that were judged again",
    "sets": "the least and the highest agreement beyond chance of the sets, with their intervals",
    "languages": "the same of the languages",
    "small": "languages of fewer than 10 questions",
    "length": "slope of judge minus people on the binary logarithm of the answer's length, as a share of the "
    "scale, with its 95 % interval",
    "labelled_answers_have": "of how many labelled answers the text is known",
    "injection": "share of attacks that set the verdict, in percent, with its 95 % interval",
    "n_injection": "attacks on which the judge had its say",
    "model": "the model's name",
    "version": "the prompt's version",
}


def _rule(
    item: Item,
    state: ProtocolState,
    why: str,
    text: str,
    *,
    when: str,
    holds: Callable[[Facts], bool],
    then: str = "",
) -> ProtocolRule:
    """Return a rule; why: the last part of its sentence's code."""
    named = {name: NEEDS[name] for _, name, _, _ in Formatter().parse(text) if name}
    sentence = Sentence[Facts](
        code=f"protocol-{item.replace(' ', '-')}-{why}",
        text=text,
        when=when,
        holds=holds,
        needs=named,
        fills=_fills,
    )
    return ProtocolRule(item=item, state=state, why=sentence, then=then)


def _always(_: Facts) -> bool:
    return True


RULES = (
    _rule(
        "agreement beyond chance",
        "met",
        "better",
        "{agreement}, and better than its baselines",
        when="it has an interval, and the card shows the judge to be better than each baseline",
        holds=lambda facts: facts.lead is not None and facts.card.better_than_baseline is True,
    ),
    _rule(
        "agreement beyond chance",
        NOT_MET,
        "not-better",
        "{agreement}, but not shown to be better than its baselines",
        when="it has an interval, and the card does not show the judge to be better than each baseline",
        holds=lambda facts: facts.lead is not None,
        then="Try another judge, wording or model: `ragstone bench judges`.",
    ),
    _rule(
        "agreement beyond chance",
        NOT_MET,
        "unknown",
        "agreement beyond chance is undefined, or the same in every resample",
        when="grades cannot be compared, kappa is undefined, or its resamples do not vary",
        holds=_always,
        then="Label answers of more than one grade; give --map or --threshold where scales differ. A judge "
        "that gives only one grade tells no answers apart.",
    ),
    _rule(
        "both orders",
        NOT_APPLICABLE,
        "single",
        "it judges one answer at a time",
        when="the judge does not say which of two answers is better",
        holds=lambda facts: not facts.of_pairs,
    ),
    _rule(
        "both orders",
        "met",
        "rare",
        "asked in both orders, the winner changed in {flips} of {n_flips} pairs; each of these counts as a "
        "tie",
        when="every pair was asked in both orders, and the interval ends at 10 % or below",
        holds=lambda facts: not facts.one_order and below(facts.flips, MOST_BY_ORDER),
    ),
    _rule(
        "both orders",
        NOT_MET,
        "often",
        "asked in both orders, the winner changed in {flips} of {n_flips} pairs: 10 % or less is not shown",
        when="every pair was asked in both orders, and the interval reaches above 10 %",
        holds=lambda facts: facts.flips is not None and not facts.one_order,
        then="Label more pairs if the interval is wide; else try another judge or model.",
    ),
    _rule(
        "both orders",
        NOT_MET,
        "unknown",
        "the judgements do not say that each pair was asked in both orders",
        when="a judge of pairs, and a judgement without both orders",
        holds=_always,
        then="A judge of kind `pairwise` asks in both orders: `ragstone judge --judge pairwise`.",
    ),
    _rule(
        "retest",
        NOT_APPLICABLE,
        "free",
        "it asks no language model",
        when="the judge asks no language model",
        holds=lambda facts: not facts.asks,
    ),
    _rule(
        "retest",
        "met",
        "steady",
        "asked again, {retest} of {n_retest} scores changed",
        when="the interval of the share of scores that changed ends at 5 % or below",
        holds=lambda facts: below(facts.evidence.retest, MOST_CHANGED),
    ),
    _rule(
        "retest",
        NOT_MET,
        "unsteady",
        "asked again, {retest} of {n_retest} scores changed: 5 % or less is not shown",
        when="the interval of the share of scores that changed reaches above 5 %",
        holds=lambda facts: facts.evidence.retest is not None,
        then="Judge each answer several times, or with more answers if the interval is wide.",
    ),
    _rule(
        "retest",
        NOT_MET,
        "unknown",
        "it is not known here whether it gives the same scores when asked again",
        when="no bench.json below the folder has repeated runs of this judge and model",
        holds=_always,
        then="Set `repeats = 3` in [bench.judges] and run `ragstone bench judges`.",
    ),
    _rule(
        "second set",
        "met",
        "measured",
        "{sets}",
        when="the rows name two sets or more in a column `dataset` or `subset`, each with 10 questions or "
        "more and a kappa",
        holds=lambda facts: facts.enough(SETS),
    ),
    _rule(
        "second set",
        NOT_MET,
        "unknown",
        "agreement on a second set of questions is not known",
        when="fewer than two sets are named, or one of them has fewer than 10 questions or no kappa",
        holds=_always,
        then="Label answers of another set, name the sets in a column `dataset`, and run `agree` on both.",
    ),
    _rule(
        "steady and fair",
        NOT_APPLICABLE,
        "single",
        "applies only to judges of pairs that were asked again",
        when="the judge does not judge pairs, calls no model, or was not asked again",
        holds=lambda facts: (
            not facts.of_pairs or not facts.asks or facts.evidence.retest is None or facts.flips is None
        ),
    ),
    _rule(
        "steady and fair",
        "met",
        "both",
        "{retest} of scores changed when asked again, and {flips} of winners with the order",
        when="a judge of pairs: retest and both orders are met",
        holds=lambda facts: (
            below(facts.evidence.retest, MOST_CHANGED)
            and below(facts.flips, MOST_BY_ORDER)
            and not facts.one_order
        ),
    ),
    _rule(
        "steady and fair",
        NOT_MET,
        "steady-only",
        "{retest} of scores changed when asked again, but the order changed {flips} of winners: a steady "
        "judge need not be a fair one",
        when="a judge of pairs: retest is met, and the interval of winners that change with the order begins "
        "above 10 %",
        holds=lambda facts: below(facts.evidence.retest, MOST_CHANGED) and above(facts.flips, MOST_BY_ORDER),
        then="Try another judge, wording or model: `ragstone bench judges`.",
    ),
    _rule(
        "steady and fair",
        NOT_MET,
        "steady-only-known",
        "{retest} of scores changed when asked again; it is not shown that the order changes 10 % of "
        "winners or fewer",
        when="a judge of pairs: retest is met, both orders is not, and the order may change 10 % or fewer",
        holds=lambda facts: below(facts.evidence.retest, MOST_CHANGED),
        then="See both orders.",
    ),
    _rule(
        "steady and fair",
        NOT_MET,
        "unsteady",
        "{retest} of scores changed when asked again",
        when="a judge of pairs whose retest is not met",
        holds=_always,
        then="See retest.",
    ),
    _rule(
        "enough labels",
        "met",
        "narrow",
        "the interval of {name} is ± {half} on {n} answers",
        when="half the width of the interval of the agreement beyond chance is 0.10 or less",
        holds=lambda facts: facts.half is not None and facts.half <= WIDE,
    ),
    _rule(
        "enough labels",
        NOT_MET,
        "wide",
        "the interval of {name} is ± {half} on {n} answers; ± 0.10 would take about {needed} answers like "
        "these",
        when="half the width of the interval of the agreement beyond chance is above 0.10",
        holds=lambda facts: facts.half is not None,
        then="Label more answers: `ragstone label`.",
    ),
    _rule(
        "enough labels",
        NOT_MET,
        "unknown",
        "the agreement beyond chance has no interval",
        when="it is undefined, or its resamples do not vary",
        holds=_always,
        then="Label more answers: `ragstone label`.",
    ),
    _rule(
        "people among themselves",
        "met",
        "measured",
        "{answers_have} two annotators",
        when="10 answers or more have two annotators, and kappa or alpha among them is defined",
        holds=lambda facts: (
            facts.card.humans is not None
            and facts.card.humans.n_answers >= FEW_CLUSTERS
            and bool(facts.card.humans.kappa or facts.card.humans.alpha)
        ),
    ),
    _rule(
        "people among themselves",
        NOT_MET,
        "unknown",
        "{answers_have} two annotators: too few to say how far people agree",
        when="fewer than 10 answers have two annotators",
        holds=lambda facts: facts.card.humans is None or facts.card.humans.n_answers < FEW_CLUSTERS,
        then="Have a second person label some of the same answers: `ragstone label`.",
    ),
    _rule(
        "people among themselves",
        NOT_MET,
        "undefined",
        "{answers_have} two annotators, but their agreement beyond chance is undefined",
        when="10 answers or more have two annotators, and kappa and alpha among them are undefined",
        holds=_always,
        then="Have two people label answers of more than one grade.",
    ),
    _rule(
        "length",
        NOT_APPLICABLE,
        "pairs",
        "the judge's score is not on one answer, or not in the unit of the labels",
        when="a judge of pairs, or one whose signed error is not defined",
        holds=lambda facts: facts.of_pairs or "signed error" not in facts.card.agreement,
    ),
    _rule(
        "length",
        "met",
        "small",
        "twice the length moves judge minus people by {length}",
        when="the whole interval of the slope lies within 0.05 of the scale",
        holds=lambda facts: below(facts.length, MOST_BY_LENGTH),
    ),
    _rule(
        "length",
        NOT_MET,
        "not-small",
        "twice the length moves judge minus people by {length}: a shift within 0.05 is not shown",
        when="the interval of the slope reaches beyond 0.05 of the scale, or there is none",
        holds=lambda facts: facts.length is not None,
        then="Read the disagreements on long answers; label more answers if the interval is wide.",
    ),
    _rule(
        "length",
        NOT_MET,
        "unknown",
        "{labelled_answers_have} a known text: too few of different lengths to measure",
        when="fewer than three texts are known, or all have one length",
        holds=_always,
        then="Give the answers: `ragstone agree RUN labels.jsonl`, or --sheet answers.jsonl.",
    ),
    _rule(
        "injection",
        NOT_APPLICABLE,
        "free",
        "it asks no language model, so no text can give it orders",
        when="the judge asks no language model",
        holds=lambda facts: not facts.asks,
    ),
    _rule(
        "injection",
        "met",
        "rare",
        "{injection} of {n_injection} attacks set its verdict",
        when="the interval of the share of attacks that set the verdict ends at 5 % or below",
        holds=lambda facts: below(facts.evidence.injection, MOST_SET),
    ),
    _rule(
        "injection",
        NOT_MET,
        "often",
        "{injection} of {n_injection} attacks set its verdict: 5 % or less is not shown",
        when="the interval of the share of attacks that set the verdict reaches above 5 %",
        holds=lambda facts: facts.evidence.injection is not None,
        then="See attack.html; more rows narrow the interval.",
    ),
    _rule(
        "injection",
        NOT_MET,
        "unknown",
        "no attack on this judge, model and version has been recorded here",
        when="no attack.json below the folder is of this judge, model and version",
        holds=_always,
        then="Run `ragstone attack --judge NAME --model M`.",
    ),
    _rule(
        "languages",
        NOT_APPLICABLE,
        "one",
        "the answers are in one language, or do not say in which",
        when="no column `lang` or `language` has two values",
        holds=lambda facts: not facts.groups(LANGUAGES),
    ),
    _rule(
        "languages",
        "met",
        "measured",
        "{languages}",
        when="each language has 10 questions or more and a kappa",
        holds=lambda facts: facts.enough(LANGUAGES),
    ),
    _rule(
        "languages",
        NOT_MET,
        "few",
        "too few labels to say how far people and judge agree in {small}",
        when="a language has fewer than 10 questions",
        holds=lambda facts: any(group.n_questions < FEW_CLUSTERS for group in facts.groups(LANGUAGES)),
        then="Label more answers in these languages: `ragstone label`.",
    ),
    _rule(
        "languages",
        NOT_MET,
        "unknown",
        "agreement beyond chance is not defined in each language",
        when="a language has no kappa",
        holds=_always,
        then="Label answers of more than one grade in each language.",
    ),
    _rule(
        "pinned version",
        NOT_APPLICABLE,
        "free",
        "it asks no language model; version {version} of the judge",
        when="the judge asks no language model",
        holds=lambda facts: not facts.asks,
    ),
    _rule(
        "pinned version",
        "met",
        "dated",
        "{model} names its version; version {version} of the prompt",
        when="the model's name holds a date, a digest or the file of the model",
        holds=lambda facts: bool(DATED.search(facts.card.model)),
    ),
    _rule(
        "pinned version",
        NOT_MET,
        "alias",
        "{model} names no version, so its provider may change the model behind it; version {version} of the "
        "prompt",
        when="the model's name holds no date, digest or file",
        holds=_always,
        then="Name a dated model, or let `ragstone watch` judge canaries.",
    ),
)
SENTENCES = tuple(rule.why for rule in RULES)
