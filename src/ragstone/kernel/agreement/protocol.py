"""What was done to validate a judge, item by item, and what to run for the rest.

After the Minimum Viable Validation Protocol of Norman, Rivera and Hughes (2026, arXiv 2606.19544): agreement
beyond chance, both orders, retest, a second set of data, and no praise of a steady judge whose verdict the
order decides. The other items are ours.
"""

from typing import get_args

import msgspec
import numpy as np

from ragstone.kernel.agreement._protocol_sentence_table import (
    RULES,
    Item,
    ValidationEvidence,
    ValidationFacts,
)
from ragstone.kernel.agreement.card import ProtocolItem, ReportCard
from ragstone.kernel.agreement.comparison import GradeComparison
from ragstone.kernel.agreement.pairing import GradePairs, Human
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Estimate, cluster_codes, mean_estimate, slope_estimate


def with_protocol(
    card: ReportCard, comparison: GradeComparison, pairs: GradePairs, *, seed: int, resamples: int
) -> ReportCard:
    """Return the card with the items of its validation, as far as labels and judgements say."""
    codes = cluster_codes(pairs.clusters, len(pairs.keys))
    texts = [_answer(human) for human in pairs.humans]
    known = [at for at, text in enumerate(texts) if text]
    low, high = card.scale or (float(comparison.human.min()), float(comparison.human.max()))
    if comparison.categories:
        low, high = comparison.categories[0], comparison.categories[-1]
    length = None
    if comparison.same_unit and high > low:
        doublings = np.log2([len(texts[at] or " ") for at in known])
        error = (comparison.judge - comparison.human)[known] / (high - low)
        length = slope_estimate(doublings, error, codes[known], seed=seed, resamples=resamples)
    orders = [(row.metadata or {}).get("orders") for row in pairs.rows]
    changed = {
        at: float(order[0] != order[1])
        for at, order in enumerate(orders)
        if isinstance(order, list) and len(order) == 2
    }
    flips = mean_estimate([*changed.values()], codes[[*changed]], seed=seed, resamples=resamples)
    card = msgspec.structs.replace(card, length_slope=length, order_flips=flips)
    facts = ValidationFacts(
        card=card,
        evidence=ValidationEvidence(),
        n_texts=len(known),
        one_order=len(changed) < len(orders),
    )
    return msgspec.structs.replace(card, protocol=_items(facts))


def with_evidence(
    card: ReportCard, *, injection: Estimate | None = None, retest: Estimate | None = None
) -> ReportCard:
    """Return the card with what other commands have found of its judge; the other items stay.

    injection, retest: see ValidationEvidence.
    """
    evidence = ValidationEvidence(injection=injection, retest=retest)
    # What the pairs did not show of both orders is no longer at hand, but the item says it.
    one_order = any(item.item == "both orders" and item.state == "not met" for item in card.protocol)
    facts = ValidationFacts(card=card, evidence=evidence, one_order=one_order)
    items = {item.item: item for item in _items(facts)}
    new: set[str] = {"injection"} if injection else set()
    new |= {"retest", "steady and fair"} if retest else set()
    protocol = [items[item.item] if item.item in new else item for item in card.protocol]
    return msgspec.structs.replace(card, protocol=protocol)


def _items(facts: ValidationFacts) -> list[ProtocolItem]:
    """Return every item with its state: that of its first rule whose condition holds."""
    first = [
        next(rule for rule in RULES if rule.item == item and rule.why.holds(facts)) for item in get_args(Item)
    ]
    return [
        ProtocolItem(item=rule.item, state=rule.state, why=f"{say(facts, rule.why)}.", next=rule.then)
        for rule in first
    ]


def _answer(human: Human) -> str | None:
    texts = [(label.metadata or {}).get("answer") for label in human.labels]
    return next((text for text in texts if isinstance(text, str) and text.strip()), None)
