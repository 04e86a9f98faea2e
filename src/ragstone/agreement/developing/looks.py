"""Looks at the part that stays closed: each is counted, and none is taken back."""

from collections.abc import Iterable, Sequence

import msgspec

SEVERAL = 3
CAUTION = (
    "Mind: after {n} looks this number may read too good. Whoever changes a judge after a look, or keeps the "
    "version that looked best, fits it to the test part a little each time (adaptive overfitting; Dwork et "
    "al. 2015, The reusable holdout, Science 349). Labels of new answers give a number that nothing was "
    "fitted to."
)


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """One look: who saw how well which judge does on which questions.

    at: date and time, UTC, ISO 8601. digest: of the judge. questions: digests of the questions of the test
    part that was looked at, so that another name of the same labels does not begin anew.
    """

    at: str
    who: str
    labels: str
    judge: str
    version: int
    digest: str
    model: str
    questions: list[str]


def looks_at(looks: Iterable[Look], questions: Iterable[str]) -> list[Look]:
    """Return the looks, in their order, at a test part that shares a question with these."""
    wanted = set(questions)
    return [look for look in looks if wanted.intersection(look.questions)]


def look_notes(number: int, looks: Sequence[Look], n_answers: int) -> list[str]:
    """Return what stands with every card of the test part; number: of this look, from 1."""
    look = looks[number - 1]
    judges = len({(one.judge, one.digest) for one in looks[:number]})
    others = "" if judges == 1 else f", at {judges} different judges or versions"
    said = (
        f"Look {number} at this test part ({look.labels}, {n_answers:,} labelled answers){others}; by "
        f"{look.who}, {look.at[:10]}."
    )
    return [said, *([CAUTION.format(n=number)] if number >= SEVERAL else [])]
