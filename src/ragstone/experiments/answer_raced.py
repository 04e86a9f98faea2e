"""A board whose questions were given out as a race: verdicts are the race's, and nobody is compared with
cells that were asked fewer questions.

An ordinary test supposes that the number of questions was fixed beforehand. Where a race decided for it, such
a test would find differences that are none, so those of cells that stopped early are left out; and under the
condition of the race the evidence that the race went by takes their place altogether.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from ragstone.config import Condition
from ragstone.experiments.answer_board import AnswerBoard, AnswerPlace, AnswerStanding, CellTest, Contrast
from ragstone.experiments.answer_grid import AnswerCell
from ragstone.experiments.answer_race import RaceReport, still_asked
from ragstone.experiments.answer_tests import corrected, turned


def raced(board: AnswerBoard, race: RaceReport) -> AnswerBoard:
    """Return the board as the race leaves it: within each condition those that stopped early come last.

    Their numbers stay, of the questions that they were given. Those who stand at the end of the race cannot
    be told apart; one alone is the best. Holm's correction is over the tests that are left.
    """
    still = {
        cell.name
        for cell in still_asked([row.cell for row in board.standings], race.condition, race.standing)
    }
    stopped = {
        one.cell: one.n_given for one in race.saved if one.cell not in still or one.n_given < race.n_given
    }
    named = {row.cell.name: row.cell for row in board.standings}
    kept = _corrected(board, race.condition, named, stopped)
    standings: list[AnswerStanding] = []
    for condition in board.conditions:
        rows = [row for row in board.standings if row.cell.condition == condition]
        on = [row for row in rows if row.cell.name not in stopped]
        gone = sorted(
            (row for row in rows if row.cell.name in stopped),
            key=lambda row: -stopped[row.cell.name],
        )
        if condition == race.condition:
            standings += [_told(row, "not distinguishable" if at else "best") for at, row in enumerate(on)]
        else:
            standings += _compared(on, kept)
        standings += [_told(row, "stopped") for row in gone]
    off = {(named[name].model, named[name].told) for name in stopped if name in named}
    return msgspec.structs.replace(
        board,
        standings=[msgspec.structs.replace(row, place=at) for at, row in enumerate(standings, 1)],
        comparisons=kept,
        contrasts=_contrasts([one for one in board.contrasts if (one.model, one.prompt) not in off]),
    )


def _corrected(
    board: AnswerBoard, raced_under: Condition, named: Mapping[str, AnswerCell], stopped: Collection[str]
) -> list[CellTest]:
    """Return the tests of cells that were asked everything, under the conditions that nobody raced under."""
    families = [
        [
            test
            for test in board.comparisons
            if named[test.first].condition == condition and not {test.first, test.second} & set(stopped)
        ]
        for condition in board.conditions
        if condition != raced_under
    ]
    return [test for family in families for test in corrected(family)]


def _contrasts(contrasts: Sequence[Contrast]) -> list[Contrast]:
    families = [
        [one for one in contrasts if one.kind == kind]
        for kind in dict.fromkeys(one.kind for one in contrasts)
    ]
    return [
        msgspec.structs.replace(one, test=test)
        for family in families
        for one, test in zip(family, corrected([one.test for one in family]), strict=True)
    ]


def _told(row: AnswerStanding, verdict: AnswerPlace) -> AnswerStanding:
    return msgspec.structs.replace(row, verdict=verdict, comparison=None)


def _compared(rows: Sequence[AnswerStanding], tests: Sequence[CellTest]) -> list[AnswerStanding]:
    """Return the cells that were asked everything, each against the first of them."""
    if not rows:
        return []
    first = rows[0]
    against = {test.second: test for test in tests if test.first == first.cell.name}
    against |= {test.first: turned(test) for test in tests if test.second == first.cell.name}
    told = [_told(first, "best" if len(rows) > 1 and first.verdict != "too few scores" else "alone")]
    return told + [_against(row, against) for row in rows[1:]]


def _against(row: AnswerStanding, tests: Mapping[str, CellTest]) -> AnswerStanding:
    test = tests.get(row.cell.name)
    worse = test is not None and test.verdict == "better"
    verdict: AnswerPlace = "worse" if worse else "not distinguishable"
    return msgspec.structs.replace(
        row, comparison=test, verdict=row.verdict if row.verdict == "too few scores" else verdict
    )
