"""What blame may say of a system's lost points: each sentence with its condition."""

from ragstone.kernel.document.numbers import count, p_told, percent
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.causes import SystemBlame
from ragstone.kernel.sentences import Sentence
from ragstone.kernel.statistics import wilson_interval

NONE = ("points-none-lost", "points-none-counted")


def _of(row: SystemBlame) -> dict[str, str]:
    largest = row.largest
    n = {share.component: f"{share.component} ({count(share.n)})" for share in row.shares}
    return {
        "points": plural(row.n_counted, "point"),
        "lost": count(row.n_lost),
        "hidden": count(row.n_hidden),
        "upper": percent(wilson_interval(0, row.n_counted)[1]) if row.n_counted else "",
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
    largest = row.largest
    n = next((share.n for share in row.shares if largest and share.component == largest.first), 0)
    return 2 * n > row.n_lost + row.n_hidden


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
CAUSES = ("most-due-to", "largest-share-due-to", "cause-cannot-tell")
DUE = {"first": NEEDS["first"], "second": NEEDS["second"], "p": NEEDS["p"]}
MOST_DUE = Sentence[SystemBlame](
    code="most-due-to",
    text="Most are due to the {first}, then to the {second} ({p}).",
    when="the first component is shown to have more points than the next (p at most 0.05), and has more than "
    "half of all",
    holds=lambda row: row.largest is not None and row.largest.verdict == "largest" and _half(row),
    needs=DUE,
    fills=_of,
    never_beside=CAUSES[1:],
)
LARGEST_SHARE = Sentence[SystemBlame](
    code="largest-share-due-to",
    text="The largest share is due to the {first}, then to the {second} ({p}).",
    when="the first component is shown to have more points than the next (p at most 0.05), but not more than "
    "half of all",
    holds=lambda row: row.largest is not None and row.largest.verdict == "largest" and not _half(row),
    needs=DUE,
    fills=_of,
    never_beside=(CAUSES[0], CAUSES[2]),
)
CANNOT_TELL = Sentence[SystemBlame](
    code="cause-cannot-tell",
    text="{questions} cannot decide whether more are due to the {first} or to the {second} ({p}).",
    when="two components have points, and p is above 0.05",
    holds=lambda row: row.largest is not None and row.largest.verdict == "cannot tell",
    needs={"questions": "questions that the test rests on", **DUE},
    fills=_of,
    never_beside=CAUSES[:2],
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
OUTCOMES = (NONE_COUNTED, NONE_LOST, LOST, LOST_AND_HIDDEN)
LARGEST = (MOST_DUE, LARGEST_SHARE, CANNOT_TELL)
SENTENCES = (*OUTCOMES, *LARGEST, RETURNED)
