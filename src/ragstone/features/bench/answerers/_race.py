"""A race: questions are given out in rounds, and configurations that are worse beyond doubt stop early.

A pure state machine: `start_race`, then as long as `next_round` has questions, ask them of those who are
`standing` and hand the scores to `after_round`. Same questions, seed and scores, same race.

Why the best is kept. Let b be the configuration with the highest mean over the questions that users ask, of
which these are a sample by documents; of several, any one of them. b stops only if for one of its K - 1
rivals j the evidence against "mean of j is at most mean of b" reaches (K - 1) / alpha. Each of these claims
is true, so each evidence ever gets there with a chance of at most alpha / (K - 1) (statistics/sequences.py);
for all of them together it is at most alpha, however they depend on one another. A pair of which one has
stopped is played no further, and capital that is no longer staked does not grow. So b is among those who are
standing at the end with a chance of at least 1 - alpha = `confidence`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.features.bench._board import both_ways
from ragstone.features.bench.answerers._labels import by_people, last_without
from ragstone.features.bench.answerers._measuring import FAITHFUL_AND_ANSWERED, choose_roles, values_of
from ragstone.features.bench.answerers._planning import AnswerGrid, AnswerRows, QuestionRound
from ragstone.features.bench.answerers._values import (
    AnswerBoard,
    AnswerCell,
    AnswerPlace,
    AnswerStanding,
    CellTest,
    Contrast,
    RaceReport,
    Role,
    Saved,
    StoppedConfiguration,
)
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.config import Condition
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Answer, Judgement, Question
from ragstone.kernel.statistics.families import as_family
from ragstone.kernel.statistics.sequences import log_capitals, log_evidence, sequence_interval

FIRST_ROUND = 10
GROWTH = 1.25
Scores = Mapping[str, float | None]
"""Question -> score in [0, 1], None where there is none."""


class Race(msgspec.Struct, frozen=True, kw_only=True):
    """Where a race stands.

    documents: the questions of each, in the order in which they are given out; n_given: documents so far.
    rounds: questions of each round so far. scores: configuration -> question -> score. withdrawn: those that
    can be asked no more, for a reason that is not their scores. capitals: of the bets that the first is
    better than the second, (configurations, configurations, bets).
    """

    configurations: tuple[str, ...]
    confidence: float
    documents: tuple[tuple[str, ...], ...]
    first: int = FIRST_ROUND
    growth: float = GROWTH
    n_given: int = 0
    rounds: tuple[int, ...] = ()
    scores: dict[str, dict[str, float | None]]
    stopped: tuple[StoppedConfiguration, ...] = ()
    withdrawn: tuple[str, ...] = ()
    capitals: NDArray[np.float64]


def start_race(
    configurations: Sequence[str],
    questions: Sequence[str],
    clusters: Mapping[str, str] | None = None,
    *,
    confidence: float = 0.95,
    seed: int = 0,
    first: int = FIRST_ROUND,
    growth: float = GROWTH,
) -> Race:
    """Return a race in which nothing has been given out.

    questions: their ids. clusters: id -> what it shares with questions that it is not independent of, such as
    its document; one that is not there stands alone. Questions of one document are given out together, and
    documents in the order of a seeded shuffle, so that what is asked first is a fair sample. first: questions
    of the first round, at least; growth: how many times as large each next round is. Raises DataError for
    fewer than two configurations, for two of one name, and where there are no questions.
    """
    names = tuple(configurations)
    if len(names) < 2 or len(set(names)) < len(names):
        raise DataError("a race needs two or more configurations with different names.")
    if not questions:
        raise DataError("a race needs questions.")
    together: dict[tuple[bool, str], list[str]] = {}
    for question in questions:
        shared = (clusters or {}).get(question)
        together.setdefault((shared is None, question if shared is None else shared), []).append(question)
    documents = [tuple(ids) for ids in together.values()]
    order = np.random.default_rng(seed).permutation(len(documents))
    return Race(
        configurations=names,
        confidence=confidence,
        documents=tuple(documents[at] for at in order.tolist()),
        first=first,
        growth=growth,
        scores={name: {} for name in names},
        capitals=log_capitals(np.zeros((len(names), len(names)))),
    )


def standing(race: Race) -> list[str]:
    """Return the configurations that have neither stopped nor withdrawn, in the order of the race."""
    gone = {stopped.configuration for stopped in race.stopped} | set(race.withdrawn)
    return [name for name in race.configurations if name not in gone]


def withdraw(race: Race, names: Iterable[str]) -> Race:
    """Return the race without these: they are asked no more, and stop nobody from here on."""
    gone = dict.fromkeys([*race.withdrawn, *(name for name in names if name in standing(race))])
    return msgspec.structs.replace(race, withdrawn=tuple(gone))


def next_round(race: Race) -> list[str]:
    """Return the ids of the questions to give out next to those who are standing; none when it is over.

    Whole documents, until there are as many questions as the round is to have.
    """
    if len(standing(race)) < 2:
        return []
    wanted = race.first * race.growth ** len(race.rounds)
    ids: list[str] = []
    for document in race.documents[race.n_given :]:
        if len(ids) >= wanted:
            break
        ids += document
    return ids


def after_round(race: Race, scores: Mapping[str, Scores]) -> Race:
    """Return the race after the round that next_round gave out. scores: of each who was standing.

    A question without a score (None, or not there) counts for no pair of that configuration, and is counted.
    Raises ValueError for a score outside [0, 1].
    """
    ids, playing = next_round(race), standing(race)
    known = {
        name: race.scores[name] | ({id_: scores[name].get(id_) for id_ in ids} if name in playing else {})
        for name in race.configurations
    }
    ends = np.cumsum([len(document) for document in race.documents[race.n_given :]])
    n_documents = int(np.searchsorted(ends, len(ids))) + 1 if ids else 0
    documents = race.documents[race.n_given : race.n_given + n_documents]
    moved = msgspec.structs.replace(
        race,
        n_given=race.n_given + n_documents,
        rounds=(*race.rounds, len(ids)),
        scores=known,
        capitals=race.capitals + _won(race, documents, scores, playing),
    )
    return msgspec.structs.replace(moved, stopped=(*race.stopped, *_worse(moved, playing)))


def _largest(race: Race) -> int:
    return max(len(document) for document in race.documents)


def _won(
    race: Race, documents: Sequence[Sequence[str]], scores: Mapping[str, Scores], playing: Sequence[str]
) -> NDArray[np.float64]:
    """Return what the round adds to the log capitals. Pairs without two scores add nothing."""
    rows = np.array(
        [
            [_number(scores[name].get(id_)) if name in playing else np.nan for name in race.configurations]
            for document in documents
            for id_ in document
        ]
    )
    differences = np.nan_to_num(rows[:, :, None] - rows[:, None, :])
    starts = np.cumsum([0, *(len(document) for document in documents[:-1])])
    sums = np.add.reduceat(differences, starts, axis=0)
    won: NDArray[np.float64] = log_capitals(sums / _largest(race)).sum(axis=0)
    return won


def _number(score: float | None) -> float:
    if score is None:
        return np.nan
    if not 0 <= score <= 1:
        raise ValueError(f"a score of {score!r}: a race needs scores from 0 to 1")
    return score


def _worse(race: Race, playing: Sequence[str]) -> list[StoppedConfiguration]:
    """Return those who stop now, most evidence first.

    Never all: with scores missing here and there, each could be worse than another on the questions that
    the two share.
    """
    names = race.configurations
    bound = np.log((len(names) - 1) / (1 - race.confidence))
    evidence = log_evidence(race.capitals)  # [j, i]: that j is better than i
    evidence[[names.index(name) for name in race.withdrawn]] = -np.inf
    best = {name: int(evidence[:, names.index(name)].argmax()) for name in playing}
    most = {name: float(evidence[best[name], names.index(name)]) for name in playing}
    beaten = sorted((name for name in playing if most[name] >= bound), key=lambda name: -most[name])
    return [_stopped(race, name, names[best[name]], most[name]) for name in beaten[: len(playing) - 1]]


def _stopped(race: Race, name: str, rival: str, evidence: float) -> StoppedConfiguration:
    played = [
        (question, at) for at, document in enumerate(race.documents[: race.n_given]) for question in document
    ]
    mine, other = race.scores[name], race.scores[rival]
    pairs = [
        (own - its, at)
        for question, at in played
        if (own := mine.get(question)) is not None and (its := other.get(question)) is not None
    ]
    differences = np.array([difference for difference, _ in pairs])
    low, high = sequence_interval(differences, [at for _, at in pairs], largest=_largest(race))
    n_both = sum(question in mine and question in other for question, _ in played)
    return StoppedConfiguration(
        configuration=name,
        after=sum(race.rounds),
        round=len(race.rounds),
        against=rival,
        doubt=float((len(race.configurations) - 1) * np.exp(-evidence)),
        difference=float(differences.mean()),
        low=low,
        high=high,
        n_pairs=len(pairs),
        n_left_out=n_both - len(pairs),
    )


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

    def __call__(self, number: int, so_far: Mapping[str, AnswerRows]) -> QuestionRound | None:
        """Return the next round, None when one stands alone or the questions have run out."""
        if number:
            self.race = self._after(so_far)
        ids = next_round(self.race)
        if not ids:
            return None
        cells = still_asked(self.cells, self.condition, standing(self.race))
        for cell in cells:
            self.given[cell.name] += len(ids)
        return QuestionRound(cells=cells, questions=[self.questions[question] for question in ids])

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
        scores: dict[str, dict[str, float]] = {name: {} for name in playing}
        for name in playing:
            if name in so_far:
                values = values_of(self.racing[name], so_far[name], self.roles, self.questions).score
                share = self._lead.share if self._lead else float
                scores[name] = {question: share(score) for question, score in values.items()}
        moved = after_round(self.race, scores)
        return withdraw(moved, [name for name in playing if name not in so_far])


def race_condition(grid: AnswerGrid) -> Condition:
    """Return the condition that is raced under. Raises ConfigError where none has two cells."""
    counts = {name: sum(cell.condition == name for cell in grid.cells) for name in grid.conditions}
    able: list[Condition] = [name for name in grid.conditions if counts[name] > 1]
    if not able:
        raise ConfigError(
            "[bench.answerers] race: a race needs at least two cells. Name two models, prompts or systems, "
            "or leave out `race`."
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
        if not (likes := [racer.name for racer in racing if _alike(cell, racer)]) or set(likes) & set(left)
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
    be told apart by the judge; one alone is the best in its eyes. Where people's labels decide, those who are
    standing are compared by them. Holm's correction is over the tests that are left; under the condition that
    was raced under it is over all pairs, for the scores chose those that are left.
    """
    still = {
        cell.name
        for cell in still_asked([row.cell for row in board.standings], race.condition, race.standing)
    }
    stopped = {
        saved.cell: saved.n_given
        for saved in race.saved
        if saved.cell not in still or saved.n_given < race.n_given
    }
    named = {row.cell.name: row.cell for row in board.standings}
    tests = _corrected(board, race.condition, named, stopped)
    standings: list[AnswerStanding] = []
    for condition in board.conditions:
        rows = [row for row in board.standings if row.cell.condition == condition]
        on = [row for row in rows if row.cell.name not in stopped]
        gone = sorted(
            (row for row in rows if row.cell.name in stopped),
            key=lambda row: -stopped[row.cell.name],
        )
        by_labels = board.labels is not None and condition in board.labels.conditions
        if condition == race.condition and by_labels:
            gains = by_people([row.cell.name for row in on], tests)
            on = sorted(on, key=lambda row: last_without(gains[row.cell.name]))
        if condition == race.condition and not by_labels:
            standings += [
                _with_verdict(row, "not distinguishable" if at else "best") for at, row in enumerate(on)
            ]
        else:
            standings += _compared(on, tests)
        standings += [_with_verdict(row, "stopped") for row in gone]
    off = {(named[name].model, named[name].told) for name in stopped if name in named}
    return msgspec.structs.replace(
        board,
        standings=[msgspec.structs.replace(row, place=at) for at, row in enumerate(standings, 1)],
        comparisons=tests,
        contrasts=_contrasts(
            [contrast for contrast in board.contrasts if (contrast.model, contrast.prompt) not in off]
        ),
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
    return [*_of_those_left(board, raced_under, named, stopped)] + [
        test for family in families for test in as_family(family)
    ]


def _of_those_left(
    board: AnswerBoard, raced_under: Condition, named: Mapping[str, AnswerCell], stopped: Collection[str]
) -> list[CellTest]:
    """Return what people's labels say of those who are standing, of whom every question was asked.

    A false claim needs a false test of two who were both asked everything, however the race chose them. A
    pair of which one stopped claims nothing, and counts in the family.
    """
    if board.labels is None or raced_under not in board.labels.conditions:
        return []
    family = [test for test in board.comparisons if named[test.first].condition == raced_under]
    gone = [bool({test.first, test.second} & set(stopped)) for test in family]
    claims = zip(family, gone, strict=True)
    tests = as_family([msgspec.structs.replace(test, p=1.0) if left else test for test, left in claims])
    return [test for test, left in zip(tests, gone, strict=True) if not left]


def _contrasts(contrasts: Sequence[Contrast]) -> list[Contrast]:
    families = [
        [contrast for contrast in contrasts if contrast.kind == kind]
        for kind in dict.fromkeys(contrast.kind for contrast in contrasts)
    ]
    return [
        msgspec.structs.replace(contrast, test=test)
        for family in families
        for contrast, test in zip(family, as_family([contrast.test for contrast in family]), strict=True)
    ]


def _with_verdict(row: AnswerStanding, verdict: AnswerPlace) -> AnswerStanding:
    people = None if verdict == "stopped" else row.people  # of so few questions, as low as those were hard
    return msgspec.structs.replace(row, verdict=verdict, comparison=None, people=people)


def _compared(rows: Sequence[AnswerStanding], tests: Sequence[CellTest]) -> list[AnswerStanding]:
    """Return the cells that were asked everything, each against the first of them."""
    if not rows:
        return []
    first, between = rows[0], both_ways(tests)
    few = first.verdict == "too few scores"
    compared = [_with_verdict(first, "best" if len(rows) > 1 and not few else "alone")]
    for row in rows[1:]:
        test = between.get((first.cell.name, row.cell.name))
        worse = test is not None and test.verdict == "better"
        verdict: AnswerPlace = "worse" if worse else "not distinguishable"
        if row.verdict in ("too few scores", "no labels"):
            verdict = row.verdict
        compared.append(msgspec.structs.replace(row, comparison=test, verdict=verdict))
    return compared
