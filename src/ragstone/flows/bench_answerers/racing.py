"""The bench of answerers as a race: which cells are asked which questions next, and what that saved.

A configuration is a model with a prompt, or a system. They race under one condition: `retrieved`, what the
application does, or the first declared one that has two of them. The same model and prompt under other
conditions are asked the same questions and stop with it, so that conditions stay comparable; under `none`,
where a model is there once, it goes on as long as any of its prompts does.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from ragstone.agreement.card import ReportCard
from ragstone.config import Condition
from ragstone.errors import ConfigError
from ragstone.experiments.answer_board import (
    AnswerBoard,
    AnswerCell,
    AnswerPlace,
    AnswerStanding,
    CellTest,
    Contrast,
    RaceReport,
    Role,
    Saved,
)
from ragstone.experiments.family import as_family
from ragstone.flows.bench_answerers.board import turned
from ragstone.flows.bench_answerers.planning import AnswerGrid, AnswerRows, Round
from ragstone.flows.bench_answerers.race import Race, after_round, next_round, standing, start_race, withdraw
from ragstone.flows.bench_answerers.values import FAITHFUL_AND_ANSWERED, choose_roles, values_of
from ragstone.records import Answer, Judgement, Question


class AnswerRace:
    """Gives out the rounds of a race, see answer_grid.NextRound; keeps where it stands between them.

    It is about what the board is ordered by (see answer_making.make_board). clusters: question id -> what it
    shares with others. cards: of judges, by which one of several is chosen, once, after the first round.
    Raises ConfigError where fewer than two configurations share a condition.
    """

    def __init__(
        self,
        grid: AnswerGrid,
        questions: Sequence[Question],
        clusters: Mapping[str, str],
        *,
        cards: Sequence[ReportCard] = (),
        confidence: float = 0.95,
        seed: int = 0,
    ) -> None:
        self.cells, self.cards = grid.cells, cards
        self.questions = {question.id: question for question in questions}
        self.condition = race_condition(grid)
        self.racing = {cell.name: cell for cell in grid.cells if cell.condition == self.condition}
        self.race = start_race(
            list(self.racing), list(self.questions), clusters, confidence=confidence, seed=seed
        )
        self.roles: list[Role] | None = None
        self.given: dict[str, int] = dict.fromkeys((cell.name for cell in grid.cells), 0)

    def __call__(self, number: int, so_far: Mapping[str, AnswerRows]) -> Round | None:
        """Return the next round, None when one stands alone or the questions have run out."""
        if number:
            self.race = self._after(so_far)
        ids = next_round(self.race)
        if not ids:
            return None
        cells = still_asked(self.cells, self.condition, standing(self.race))
        for cell in cells:
            self.given[cell.name] += len(ids)
        return Round(cells=cells, questions=[self.questions[one] for one in ids])

    def report(self, so_far: Mapping[str, AnswerRows]) -> RaceReport:
        """Return how it went. so_far: all that was said and judged; cells that failed are left out."""
        n = len(self.questions)
        return RaceReport(
            condition=self.condition,
            measure=self._lead.metric if self._lead else FAITHFUL_AND_ANSWERED,
            confidence=self.race.confidence,
            n_questions=n,
            n_given=sum(self.race.rounds),
            rounds=list(self.race.rounds),
            standing=standing(self.race),
            stopped=list(self.race.stopped),
            failed=list(self.race.withdrawn),
            saved=[_saved(name, rows, self.given[name], n) for name, rows in so_far.items()],
        )

    @property
    def _lead(self) -> Role | None:
        return next((role for role in self.roles or () if role.role == "correct"), None)

    def _after(self, so_far: Mapping[str, AnswerRows]) -> Race:
        if self.roles is None:
            judged = [row for rows in so_far.values() for row in rows.judgements]
            self.roles = choose_roles(judged, self.cards)
        playing = standing(self.race)
        scores = {name: self._scores(name, so_far[name]) if name in so_far else {} for name in playing}
        moved = after_round(self.race, scores)
        return withdraw(moved, [name for name in playing if name not in so_far])

    def _scores(self, name: str, rows: AnswerRows) -> dict[str, float]:
        values = values_of(self.racing[name], rows, self.roles or (), self.questions).score
        lead = self._lead
        return {one: lead.share(score) for one, score in values.items()} if lead else values


def race_condition(grid: AnswerGrid) -> Condition:
    """Return the condition that is raced under. Raises ConfigError where none has two cells."""
    counts = {name: sum(cell.condition == name for cell in grid.cells) for name in grid.conditions}
    able: list[Condition] = [name for name in grid.conditions if counts[name] > 1]
    if not able:
        raise ConfigError(
            "[bench.answerers] race: there is nobody to race against. Name two models, prompts or systems, "
            "or leave `race` out."
        )
    return "retrieved" if "retrieved" in able else able[0]


def still_asked(cells: Sequence[AnswerCell], condition: Condition, left: Sequence[str]) -> list[AnswerCell]:
    """Return the cells that are asked on: those of `left`, and their likes under other conditions.

    A cell that has no like in the race is asked all that is given out.
    """
    racing = [cell for cell in cells if cell.condition == condition]
    return [
        cell
        for cell in cells
        if not (likes := [one.name for one in racing if _alike(cell, one)]) or set(likes) & set(left)
    ]


def _alike(cell: AnswerCell, racing: AnswerCell) -> bool:
    if cell.is_system or racing.is_system:
        return cell.name == racing.name
    same_prompt = cell.prompt == racing.prompt or "none" in {cell.condition, racing.condition}
    same_model = (cell.model, cell.temperature) == (racing.model, racing.temperature)
    return same_model and (same_prompt if cell.condition != racing.condition else cell == racing)


def _saved(name: str, rows: AnswerRows, n_given: int, n_questions: int) -> Saved:
    every: list[Answer | Judgement] = [*rows.answers, *rows.judgements]
    used = [(row.usage.calls, row.cost_usd) for row in every if row.usage is not None]
    calls = sum(n for n, _ in used)
    usd = None if any(cost is None for _, cost in used) else sum(cost or 0.0 for _, cost in used)
    ahead = (n_questions - n_given) / n_given if n_given else 0.0
    return Saved(
        cell=name,
        n_given=n_given,
        n_questions=n_questions,
        calls=calls,
        calls_spared=calls * ahead,
        usd=usd,
        usd_spared=None if usd is None else usd * ahead,
    )


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
            standings += [
                _with_verdict(row, "not distinguishable" if at else "best") for at, row in enumerate(on)
            ]
        else:
            standings += _compared(on, kept)
        standings += [_with_verdict(row, "stopped") for row in gone]
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
    return [test for family in families for test in as_family(family)]


def _contrasts(contrasts: Sequence[Contrast]) -> list[Contrast]:
    families = [
        [one for one in contrasts if one.kind == kind]
        for kind in dict.fromkeys(one.kind for one in contrasts)
    ]
    return [
        msgspec.structs.replace(one, test=test)
        for family in families
        for one, test in zip(family, as_family([one.test for one in family]), strict=True)
    ]


def _with_verdict(row: AnswerStanding, verdict: AnswerPlace) -> AnswerStanding:
    return msgspec.structs.replace(row, verdict=verdict, comparison=None)


def _compared(rows: Sequence[AnswerStanding], tests: Sequence[CellTest]) -> list[AnswerStanding]:
    """Return the cells that were asked everything, each against the first of them."""
    if not rows:
        return []
    first = rows[0]
    against = {test.second: test for test in tests if test.first == first.cell.name}
    against |= {test.first: turned(test) for test in tests if test.second == first.cell.name}
    told = [_with_verdict(first, "best" if len(rows) > 1 and first.verdict != "too few scores" else "alone")]
    return told + [_against(row, against) for row in rows[1:]]


def _against(row: AnswerStanding, tests: Mapping[str, CellTest]) -> AnswerStanding:
    test = tests.get(row.cell.name)
    worse = test is not None and test.verdict == "better"
    verdict: AnswerPlace = "worse" if worse else "not distinguishable"
    return msgspec.structs.replace(
        row, comparison=test, verdict=row.verdict if row.verdict == "too few scores" else verdict
    )
