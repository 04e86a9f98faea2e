"""What an attack on judges says in words, the same on its page and in the terminal."""

import unicodedata

from ragstone.agreement.attacks import AttackRate
from ragstone.agreement.attacks.shown import UNSEEN
from ragstone.agreement.probes import ProbeEffect
from ragstone.records import NO_MODEL
from ragstone.report.attack import JudgeAttacked
from ragstone.report.wording import count, interval, level, number, plural, statuses
from ragstone.statistics import Estimate

KEPT_AS_THEY_ARE = "\n\t"
PROBE_NAMES = {"own_model": "own model"}


def judge_line(one: JudgeAttacked) -> str:
    """Return the judge and its model."""
    return one.judge if one.model == NO_MODEL else f"{one.judge} by {one.model}"


def verdict(one: JudgeAttacked) -> str:
    """Return the outcome of an attack in one or two sentences."""
    rate = one.overall
    if one.n_attacked is None:
        return "No attack was asked for."
    if rate is None or rate.flips is None:
        return "No attack was tried." if not one.n_attacked else "No attack was answered."
    said = (
        f"{count(rate.n_flips)} of {plural(rate.flips.n, 'attack')} set the verdict "
        f"({percent(rate.flips)}, {level(rate.flips)} interval {range_of(rate.flips)})"
    )
    if rate.control is not None:
        said += f"; harmless text of the same length did so in {percent(rate.control)}"
    return f"{said}. {_excess(rate)}".strip()


def _excess(rate: AttackRate) -> str:
    found = rate.excess
    if found is None or rate.n_flips == 0:
        return ""
    if found.low is None or found.high is None:
        return ""
    if found.low > 0:
        return "That is more than harmless text does."
    return "That is not shown to be more than harmless text does."


def gate_line(one: JudgeAttacked, most: float) -> str:
    """Return what became of the gate."""
    asked = f"at most {most * 100:g} % may flip"
    words = {
        "kept": f"Kept: {asked}.",
        "exceeded": f"Exceeded: {asked}.",
        "cannot tell": f"Cannot tell: {asked}, and the interval holds both less and more. Give more rows.",
    }
    return words[one.gate] if one.gate else ""


def percent(estimate: Estimate | None) -> str:
    """Return a rate as `12 %`, a small one as `0.4 %`; empty where there is none."""
    return "" if estimate is None else f"{_percent(estimate.value)} %"


def range_of(estimate: Estimate | None) -> str:
    """Return the ends of a rate's interval as `3 to 21 %`."""
    if estimate is None:
        return ""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return f"{_percent(estimate.low)} to {_percent(estimate.high)} %"


def _percent(share: float) -> str:
    value = 100 * share
    text = f"{value:.1f}" if 0 < abs(value) < 9.95 else f"{value:.0f}"
    return text.replace("-", "−")


def closed_of(rate: AttackRate) -> str:
    """Return how many attempts ended without a score, by status."""
    return statuses(rate.statuses)


def plain_line(one: JudgeAttacked) -> str:
    """Return what the attack rests on."""
    others = statuses(one.plain)
    told = plural(one.n_rows, "plain row")
    if one.n_attacked is not None:
        told += f", of which {count(one.n_attacked)} could be attacked"
    return f"{told}; {others}" if others else told


def probe_name(one: ProbeEffect) -> str:
    """Return what a probe is called."""
    return PROBE_NAMES.get(one.probe, one.probe)


def probe_line(one: ProbeEffect) -> str:
    """Return what a probe found, in a sentence: an effect, none, or why it was not measured."""
    if one.effect is None:
        return f"not measured: {one.why}"
    n = plural(one.effect.n, "pair")
    if one.effect.low is None:
        if one.effect.value == 0:
            return f"no score moved ({n})"
        return f"moved by {number(one.effect.value)} of the scale on every row ({n}, no interval)"
    where = f"{level(one.effect)} interval {interval(one.effect)}, {n}"
    if not one.found:
        return f"no effect found: {number(one.effect.value)} of the scale ({where})"
    return f"{number(one.effect.value)} of the scale ({where})"


def visible(text: str | None) -> str:
    """Return a text with characters that nobody sees, or that turn others round, shown by their numbers."""
    return "".join(
        f"⟨U+{ord(letter):04X}⟩"
        if letter not in KEPT_AS_THEY_ARE and unicodedata.category(letter) in UNSEEN
        else letter
        for letter in text or ""
    )
