"""What blame may say of a system's lost points: each sentence with its condition."""

from collections.abc import Sequence

from ragstone.kernel.decimals import signed_decimal, signed_decimals, unsigned_decimal
from ragstone.kernel.document.numbers import count, p_told, percent
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.causes import ChangePrice, NetPoints, SystemBlame, SystemChange
from ragstone.kernel.sentences import Sentence, others
from ragstone.kernel.statistics import share_unseen

NONE = ("points-none-lost", "points-none-counted")


def _of(row: SystemBlame) -> dict[str, str]:
    largest = row.largest
    n = {share.component: f"{share.component} ({count(share.n)})" for share in row.shares}
    return {
        "points": plural(row.n_counted, "point"),
        "lost": count(row.n_lost),
        "hidden": count(row.n_hidden),
        "upper": percent(share_unseen(row.n_counted)) if row.n_counted else "",
        "first": n.get(largest.first, "") if largest else "",
        "second": n.get(largest.second, "") if largest else "",
        "p": p_told(largest.p_holm) if largest else "",
        "questions": plural(largest.n, "question") if largest else "",
        "back": count(row.returned.n_right) if row.returned else "",
        "come": "comes" if row.returned and row.returned.n_right == 1 else "come",
        "asked": plural(row.returned.n, "lost point") if row.returned else "",
    }


def _half(row: SystemBlame) -> bool:
    """Whether the largest component has more than half of the points that were lost or granted wrongly."""
    return 2 * _of_component(row, row.largest.first if row.largest else None) > row.n_lost + row.n_hidden


def _alone(row: SystemBlame) -> bool:
    """Whether no component but the first has a point: the second of the test is then one of several at 0."""
    return row.largest is not None and not _of_component(row, row.largest.second)


def _of_component(row: SystemBlame, component: str | None) -> int:
    return next((share.n for share in row.shares if share.component == component), 0)


def _is_shown(row: SystemBlame) -> bool:
    return row.largest is not None and row.largest.verdict == "largest"


NEEDS = {
    "points": "questions that were decided",
    "lost": "those scored below the middle of the scale",
    "first": "the component with the most points, and how many",
    "second": "the next one",
    "p": "of the paired test that the first has more than the second, by Holm's correction over all pairs",
}
NONE_COUNTED = Sentence[SystemBlame](
    code="points-none-counted",
    text="No point was counted, so nothing is known about lost points.",
    when="no question of the system was decided",
    holds=lambda row: row.n_counted == 0,
    never_beside=("points-none-lost", "points-lost", "points-lost-and-hidden"),
)
NONE_LOST = Sentence[SystemBlame](
    code="points-none-lost",
    text="None of {points} is lost, so there is nothing to explain; up to {upper} lost cannot be excluded.",
    when="at least one question was decided; no point is lost, and none is granted that a second opinion "
    "denies",
    holds=lambda row: row.n_counted > 0 and not row.n_lost and not row.n_hidden,
    needs={
        "points": NEEDS["points"],
        "upper": "upper end of Wilson's 95 % interval of 0 of these, in percent",
    },
    fills=_of,
    never_beside=("points-lost", "points-lost-and-hidden", "most-due-to", "largest-share-due-to"),
)
LOST = Sentence[SystemBlame](
    code="points-lost",
    text="{lost} of {points} lost.",
    when="at least one point is lost, and none is granted that a second opinion denies",
    holds=lambda row: row.n_lost > 0 and not row.n_hidden,
    needs={"lost": NEEDS["lost"], "points": NEEDS["points"]},
    fills=_of,
    never_beside=NONE,
)
LOST_AND_HIDDEN = Sentence[SystemBlame](
    code="points-lost-and-hidden",
    text="{lost} of {points} lost; the second opinion denies {hidden} that the judge grants.",
    when="the second opinion denies at least one point that the judge grants",
    holds=lambda row: row.n_hidden > 0,
    needs={
        "lost": NEEDS["lost"],
        "points": NEEDS["points"],
        "hidden": "points that the judge grants and the second opinion denies",
    },
    fills=_of,
    never_beside=(*NONE, "points-lost"),
)
UNANSWERABLE = Sentence[SystemBlame](
    code="points-by-refusal",
    text="Points of unanswerable questions ({unanswerable}) go by whether the answer refuses, not by "
    "{judge}.",
    when="at least one question that was decided is unanswerable",
    holds=lambda row: row.n_unanswerable > 0,
    needs={
        "unanswerable": "questions that were decided, and that the documents do not answer",
        "judge": "the judge whose verdict all other points are",
    },
    fills=lambda row: {"unanswerable": count(row.n_unanswerable), "judge": row.judge},
    never_beside=("points-none-counted",),
)
CAUSES = (
    "most-due-to",
    "largest-share-due-to",
    "cause-cannot-tell",
    "all-due-to",
    "all-known-due-to",
    "only-cause-cannot-tell",
)
DUE = {"first": NEEDS["first"], "second": NEEDS["second"], "p": NEEDS["p"]}
MOST_DUE = Sentence[SystemBlame](
    code="most-due-to",
    text="Most are due to the {first}, then to the {second} ({p}).",
    when="the first component is shown to have more points than the next (p at most 0.05), and has more than "
    "half of all; the next has at least one",
    holds=lambda row: _is_shown(row) and _half(row) and not _alone(row),
    needs=DUE,
    fills=_of,
    never_beside=others(CAUSES, "most-due-to"),
)
LARGEST_SHARE = Sentence[SystemBlame](
    code="largest-share-due-to",
    text="The largest share is due to the {first}, then to the {second} ({p}).",
    when="the first component is shown to have more points than the next (p at most 0.05), but not more than "
    "half of all; the next has at least one",
    holds=lambda row: _is_shown(row) and not _half(row) and not _alone(row),
    needs=DUE,
    fills=_of,
    never_beside=others(CAUSES, "largest-share-due-to"),
)
CANNOT_TELL = Sentence[SystemBlame](
    code="cause-cannot-tell",
    text="{questions} cannot decide whether more are due to the {first} or to the {second} ({p}).",
    when="two components have points, and p is above 0.05",
    holds=lambda row: row.largest is not None and row.largest.verdict == "cannot tell" and not _alone(row),
    needs={"questions": "questions that the test rests on", **DUE},
    fills=_of,
    never_beside=others(CAUSES, "cause-cannot-tell"),
)
ALONE = {"first": NEEDS["first"], "p": NEEDS["p"]}
ALL_DUE = Sentence[SystemBlame](
    code="all-due-to",
    text="All are due to the {first} ({p}).",
    when="one component has all points, and is shown to have more than another (p at most 0.05)",
    holds=lambda row: _is_shown(row) and _alone(row) and not _of_component(row, "cannot tell"),
    needs=ALONE,
    fills=_of,
    never_beside=others(CAUSES, "all-due-to"),
)
ALL_KNOWN_DUE = Sentence[SystemBlame](
    code="all-known-due-to",
    text="All whose component is known are due to the {first} ({p}).",
    when="as for all-due-to, but no component could be found for some points",
    holds=lambda row: _is_shown(row) and _alone(row) and _of_component(row, "cannot tell") > 0,
    needs=ALONE,
    fills=_of,
    never_beside=others(CAUSES, "all-known-due-to"),
)
ONLY_CANNOT_TELL = Sentence[SystemBlame](
    code="only-cause-cannot-tell",
    text="{questions} cannot decide whether more are due to the {first} or to another component ({p}).",
    when="one component alone has points, and p is above 0.05",
    holds=lambda row: row.largest is not None and row.largest.verdict == "cannot tell" and _alone(row),
    needs={"questions": "questions that the test rests on", **ALONE},
    fills=_of,
    never_beside=others(CAUSES, "only-cause-cannot-tell"),
)
RETURNED = Sentence[SystemBlame](
    code="points-returned",
    text="Given the right documents, {back} of the {asked} that were asked again {come} back.",
    when="at least one lost point was asked again with the right documents",
    holds=lambda row: row.returned is not None,
    needs={
        "back": "points that are right then",
        "asked": "points that were asked again",
        "come": "a verb",
    },
    fills=_of,
    never_beside=NONE,
)
CHANGES: dict[SystemChange, str] = {
    "right documents": "the right documents alone",
    "right document first": "the right documents first",
    "document retrieved": "a retriever that never misses",
    "other model": "{model} instead of what answered",
    "other model, right documents": "{model} and the right documents",
    "contexts read": "a model that reads every relevant context",
    "right documents, all read": "the right documents, always read",
    "references mended": "doubtful references and stale evidence mended",
    "tools never fail": "tools that never fail",
    "second opinion": "the second opinion's verdicts",
}
ENOUGH = 10  # lost points, fewer of which name no price


def change_text(price: ChangePrice) -> str:
    """Return what is changed, as words that follow `with`."""
    return CHANGES[price.change].format(model=price.model)


def points_of_100(share: float) -> str:
    """Return a share as points of 100 questions, without its sign."""
    return unsigned_decimal(100 * share, _places((share,)))


def _places(shares: Sequence[float]) -> int:
    return 1 if any(abs(100 * share) < 9.95 for share in shares) else 0


def signed_of_100(share: float) -> str:
    """Return a share as points of 100 questions, with its sign; 0.0 has none."""
    return signed_decimal(100 * share, _places((share,)))


def range_of_100(points: NetPoints) -> str:
    """Return the ends of the interval in points of 100 questions, with their signs."""
    return signed_decimals(100 * points.low, 100 * points.high, _places((points.low, points.high)))


def _of_price(price: ChangePrice) -> dict[str, str]:
    return {
        "change": change_text(price),
        "Change": change_text(price)[:1].upper() + change_text(price)[1:],
        "points": points_of_100(price.points.value),
        "ends": range_of_100(price.points),
        "asked": plural(price.n_asked, "answer"),
    }


def _is_measured(price: ChangePrice) -> bool:
    return price.basis == "measured" and price.change != "second opinion"


PRICE_NEEDS = {
    "change": "what is changed",
    "points": "points gained less points lost, of 100 questions",
    "ends": "ends of the 95 % interval, in points of 100 questions",
    "asked": "answers that the price rests on",
}
PRICE_GAIN = Sentence[ChangePrice](
    code="price-gain",
    text="With {change}, {points} more of 100 points are kept ({ends}, measured on {asked}).",
    when="lost and right answers were asked again, and the whole 95 % interval is above 0",
    holds=lambda price: _is_measured(price) and price.points.low > 0,
    needs=PRICE_NEEDS,
    fills=_of_price,
)
PRICE_LOSS = Sentence[ChangePrice](
    code="price-loss",
    text="With {change}, {points} fewer of 100 points are kept ({ends}, measured on {asked}).",
    when="lost and right answers were asked again, and the whole 95 % interval is below 0",
    holds=lambda price: _is_measured(price) and price.points.high < 0,
    needs=PRICE_NEEDS,
    fills=_of_price,
)
PRICE_OPEN = Sentence[ChangePrice](
    code="price-cannot-tell",
    text="{asked} cannot decide whether {change} would gain or lose points ({ends} of 100).",
    when="lost and right answers were asked again, and the 95 % interval includes 0",
    holds=lambda price: _is_measured(price) and price.points.low <= 0 <= price.points.high,
    needs={name: PRICE_NEEDS[name] for name in ("asked", "change", "ends")},
    fills=_of_price,
)
PRICE_AT_MOST = Sentence[ChangePrice](
    code="price-at-most",
    text="{Change} would bring at most {points} of 100 points ({ends}).",
    when=f"only lost points were asked again, or nothing but what was retrieved is known; at least {ENOUGH} "
    "points are lost, and the whole 95 % interval is above 0",
    holds=lambda price: price.basis == "at most" and price.n_asked >= ENOUGH and price.points.low > 0,
    needs={
        "Change": PRICE_NEEDS["change"],
        "points": "lost points that can come back, of 100 questions",
        "ends": PRICE_NEEDS["ends"],
    },
    fills=_of_price,
)
COMBINED: tuple[SystemChange, SystemChange, SystemChange] = (
    "right documents",
    "other model",
    "other model, right documents",
)


def _together(row: SystemBlame) -> list[ChangePrice]:
    """Return the prices of two changes and of both, where all were measured on the same questions and the
    last is not the sum of the others.
    """
    measured = {price.change: price for price in row.prices if _is_measured(price)}
    three = [measured[change] for change in COMBINED if change in measured]
    if len(three) < len(COMBINED) or len({price.n for price in three}) > 1:
        return []
    first, second, both = (price.points.value for price in three)
    return three if abs(both - first - second) >= 0.001 else []


def _of_all(row: SystemBlame) -> dict[str, str]:
    three, both = _together(row), _both(row)
    first, second, joint = (signed_of_100(price.points.value) for price in three) if three else ("", "", "")
    return {
        "first": first,
        "second": second,
        "both": joint,
        "model": three[1].model or "" if three else "",
        "shared": plural(both.shared, "lost point") if both else "",
    }


def _both(row: SystemBlame) -> ChangePrice | None:
    return next((price for price in row.prices if price.change == "right documents, all read"), None)


PRICES_TOGETHER = Sentence[SystemBlame](
    code="prices-together",
    text="Do not add prices: asked separately, the right documents bring {first} and {model} {second} of 100 "
    "points; asked together, {both}.",
    when="the right documents, another model and both were measured on the same questions, and what both "
    "bring differs by at least 0.1 of 100 points from the sum",
    holds=lambda row: bool(_together(row)),
    needs={
        "first": "points of 100 of the right documents, with sign",
        "model": "the other model",
        "second": "its points of 100, with sign",
        "both": "points of 100 of both changes, with sign",
    },
    fills=_of_all,
    never_beside=("prices-do-not-add",),
)
PRICES_SHARED = Sentence[SystemBlame](
    code="prices-do-not-add",
    text="Prices do not add: {shared} could come back with either the right documents or a model that reads "
    "every relevant context.",
    when="at least one lost point had a relevant document among its contexts, or this is unknown, "
    "and is right with the right documents alone, or these were not asked",
    holds=lambda row: (both := _both(row)) is not None and both.shared > 0,
    needs={"shared": "lost points that each of two changes could bring back"},
    fills=_of_all,
    never_beside=("prices-together",),
)
NO_PRICE = Sentence[SystemBlame](
    code="prices-unknown",
    text="What changes would bring is unknown: too few answers were asked again, and no lost point of an "
    "answerable question says both which documents are relevant and what was retrieved.",
    when="prices were asked for, points are lost, and no change can be measured or bounded",
    holds=lambda row: row.n_lost > 0 and not row.prices,
    never_beside=(*NONE, "prices-together", "prices-do-not-add"),
)
OUTCOMES = (NONE_COUNTED, NONE_LOST, LOST, LOST_AND_HIDDEN)
LARGEST = (MOST_DUE, LARGEST_SHARE, CANNOT_TELL, ALL_DUE, ALL_KNOWN_DUE, ONLY_CANNOT_TELL)
PRICED = (PRICE_GAIN, PRICE_LOSS, PRICE_OPEN, PRICE_AT_MOST)
NOT_ADDING = (PRICES_TOGETHER, PRICES_SHARED)
SENTENCES = (*OUTCOMES, UNANSWERABLE, *LARGEST, RETURNED, *PRICED, *NOT_ADDING, NO_PRICE)
