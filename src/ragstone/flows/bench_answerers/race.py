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

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.errors import DataError
from ragstone.experiments.answer_board import Stopped
from ragstone.statistics.sequences import BETS, log_capitals, log_evidence, sequence_interval

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
    stopped: tuple[Stopped, ...] = ()
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
        raise DataError("a race is between two configurations or more, each of its own name.")
    if not questions:
        raise DataError("a race needs questions.")
    together: dict[tuple[bool, str], list[str]] = {}
    for one in questions:
        shared = (clusters or {}).get(one)
        together.setdefault((shared is None, one if shared is None else shared), []).append(one)
    documents = [tuple(ids) for ids in together.values()]
    order = np.random.default_rng(seed).permutation(len(documents))
    return Race(
        configurations=names,
        confidence=confidence,
        documents=tuple(documents[at] for at in order.tolist()),
        first=first,
        growth=growth,
        scores={name: {} for name in names},
        capitals=np.zeros((len(names), len(names), BETS.size)),
    )


def standing(race: Race) -> list[str]:
    """Return the configurations that have neither stopped nor withdrawn, in the order of the race."""
    gone = {one.configuration for one in race.stopped} | set(race.withdrawn)
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
    asked = next_round(race)
    playing = standing(race)
    known = {
        name: {
            **race.scores[name],
            **({one: scores[name].get(one) for one in asked} if name in playing else {}),
        }
        for name in race.configurations
    }
    n_documents = _documents_of(race, len(asked))
    given = race.documents[race.n_given : race.n_given + n_documents]
    moved = msgspec.structs.replace(
        race,
        n_given=race.n_given + n_documents,
        rounds=(*race.rounds, len(asked)),
        scores=known,
        capitals=race.capitals + _won(race, given, scores, playing),
    )
    return msgspec.structs.replace(moved, stopped=(*race.stopped, *_worse(moved, playing)))


def _documents_of(race: Race, n_questions: int) -> int:
    ends = np.cumsum([len(document) for document in race.documents[race.n_given :]])
    return int(np.searchsorted(ends, n_questions)) + 1 if n_questions else 0


def _largest(race: Race) -> int:
    return max(len(document) for document in race.documents)


def _won(
    race: Race, given: Sequence[Sequence[str]], scores: Mapping[str, Scores], playing: Sequence[str]
) -> NDArray[np.float64]:
    """Return what the round adds to the log capitals. Pairs without two scores add nothing."""
    rows = np.array(
        [
            [_number(scores[name].get(one)) if name in playing else np.nan for name in race.configurations]
            for document in given
            for one in document
        ]
    )
    differences = np.nan_to_num(rows[:, :, None] - rows[:, None, :])
    starts = np.cumsum([0, *(len(document) for document in given[:-1])])
    sums = np.add.reduceat(differences, starts, axis=0)
    won: NDArray[np.float64] = log_capitals(sums / _largest(race)).sum(axis=0)
    return won


def _number(score: float | None) -> float:
    if score is None:
        return np.nan
    if not 0 <= score <= 1:
        raise ValueError(f"a score of {score!r}: a race needs scores from 0 to 1")
    return score


def _worse(race: Race, playing: Sequence[str]) -> list[Stopped]:
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


def _stopped(race: Race, name: str, rival: str, evidence: float) -> Stopped:
    asked = [(one, at) for at, document in enumerate(race.documents[: race.n_given]) for one in document]
    mine, other = race.scores[name], race.scores[rival]
    pairs = [
        (own - its, at)
        for one, at in asked
        if (own := mine.get(one)) is not None and (its := other.get(one)) is not None
    ]
    differences = np.array([difference for difference, _ in pairs])
    low, high = sequence_interval(differences, [at for _, at in pairs], largest=_largest(race))
    n_both = sum(one in mine and one in other for one, _ in asked)
    return Stopped(
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
