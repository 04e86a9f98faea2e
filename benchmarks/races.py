"""Races in simulation: how often the true best is kept, and how many calls are saved.

Run: python benchmarks/races.py [SIMULATIONS] [--biased-judge]

With --biased-judge: systems that are equally good, or of which one is 10 points better, a judge that flatters
one of them, and how often somebody is called better who is not: by the judge's scores, and by labels.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import msgspec
import numpy as np

from ragstone.features.bench.answerers._race import Race, after_round, next_round, standing, start_race
from ragstone.kernel.statistics import Codes, Floats, holm, mcnemar_p
from ragstone.kernel.statistics.ppi_difference import prediction_powered_difference

SIMULATIONS = 500
CONFIGURATIONS = 12
TOP = 0.8

Draw = Callable[[Floats, Codes, np.random.Generator], Floats]
"""Means (configurations,) and the document of each question -> scores (questions, configurations)."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What is simulated. means: of the configurations, the first the best. size: questions of a document."""

    name: str
    means: list[float]
    n_questions: int
    draw: Draw
    size: int = 1
    first: int = 10
    growth: float = 1.25


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Over all simulations. kept: the best stood at the end. alone: nobody else did. saved: of the calls."""

    kept: float
    alone: float
    saved: float
    rounds: float


def right_or_wrong(means: Floats, documents: Codes, rng: np.random.Generator) -> Floats:
    """0 or 1. Half of what makes an answer right is the question, for all alike: pairs are correlated."""
    thresholds = np.quantile(NORMAL, means)
    hard = _half_shared(documents, rng)
    own = rng.normal(size=(documents.size, means.size))
    right: Floats = (np.sqrt(0.5) * hard[:, None] + np.sqrt(0.5) * own < thresholds).astype(float)
    return right


def graded(means: Floats, documents: Codes, rng: np.random.Generator) -> Floats:
    """Grades 0, 1/3, 2/3, 1 of the same kind; the mean of three answers right or wrong."""
    grades: Floats = np.mean([right_or_wrong(means, documents, rng) for _ in range(3)], axis=0)
    return grades


def _half_shared(documents: Codes, rng: np.random.Generator) -> Floats:
    """Standard normal for each question; half of its variance is that of its document."""
    of_document = rng.normal(size=int(documents.max()) + 1)[documents]
    shared: Floats = np.sqrt(0.5) * of_document + np.sqrt(0.5) * rng.normal(size=documents.size)
    return shared


NORMAL = np.random.default_rng(1).normal(size=1_000_000)


def one_clear(gap: float) -> list[float]:
    return [TOP] + [TOP - gap] * (CONFIGURATIONS - 1)


def spread(step: float) -> list[float]:
    return [TOP - step * place for place in range(CONFIGURATIONS)]


def settings() -> Iterator[Setting]:
    for gap in (0.05, 0.1, 0.2):
        for n in (200, 500, 1000, 2000):
            yield Setting(
                name=f"one clear winner, {gap:g} ahead",
                means=one_clear(gap),
                n_questions=n,
                draw=right_or_wrong,
            )

    def plain(name: str, means: list[float], size: int = 1) -> Setting:
        return Setting(name=name, means=means, n_questions=500, draw=right_or_wrong, size=size)

    yield plain("one clear winner, 0.3 ahead", one_clear(0.3))
    yield plain("steps of 0.03", spread(0.03))
    yield plain("near ties: steps of 0.005", spread(0.005))
    yield plain("two tied, the others 0.2 below", [TOP, TOP, *one_clear(0.2)[1:-1]])
    yield plain("all the same", [TOP] * CONFIGURATIONS)
    for gap in (0.1, 0.2):
        yield Setting(
            name=f"graded 0 to 3, {gap:g} ahead", means=one_clear(gap), n_questions=500, draw=graded
        )
    for size in (3, 5):
        yield plain(f"{size} questions a document, 0.2 ahead", one_clear(0.2), size)
    yield plain("5 questions a document, all the same", [TOP] * CONFIGURATIONS, 5)


def rounds() -> Iterator[Setting]:
    for first, growth in ((1, 1.0), (10, 1.0), (10, 1.1), (10, 1.25), (10, 1.5), (10, 2.0), (20, 1.25)):
        yield Setting(
            name=f"rounds from {first}, each {growth:g} times as large",
            means=one_clear(0.2),
            n_questions=500,
            draw=right_or_wrong,
            first=first,
            growth=growth,
        )


def simulate(setting: Setting, simulations: int, seed: int = 0) -> Outcome:
    """Return what came of races in which every question is drawn anew."""
    n, means = setting.n_questions, np.array(setting.means)
    names = [f"c{place:02}" for place in range(means.size)]
    documents = np.arange(n) // setting.size
    questions = [f"q{at}" for at in range(n)]
    clusters = {f"q{at}": f"d{document}" for at, document in enumerate(documents.tolist())}
    best = {name for name, mean in zip(names, setting.means, strict=True) if mean == setting.means[0]}
    kept = alone = asked = n_rounds = 0
    for number in range(simulations):
        rng = np.random.default_rng([seed, number])
        drawn = setting.draw(means, documents, rng).T
        rows = {
            name: dict(zip(questions, scores, strict=True))
            for name, scores in zip(names, drawn.tolist(), strict=True)
        }
        race = start_race(names, questions, clusters, seed=number, first=setting.first, growth=setting.growth)
        while given := next_round(race):
            race = after_round(
                race, {name: {one: rows[name][one] for one in given} for name in standing(race)}
            )
        left = standing(race)
        # Of several best ones any may go; the promise is of each by itself, so the first one is watched.
        kept += names[0] in left
        alone += set(left) <= best
        asked += sum(len(known) for known in race.scores.values())
        n_rounds += len(race.rounds)
    return Outcome(
        kept=kept / simulations,
        alone=alone / simulations,
        saved=1 - asked / (simulations * n * means.size),
        rounds=n_rounds / simulations,
    )


QUESTIONS = 300
LABELLED = (100, 150, 300)  # questions, drawn at random, with labels of all answers
LENIENT = (0.05, 0.05, 0.25)  # share of each system's wrong answers that the judge calls right
MISSED = 0.05  # share of right answers that it calls wrong
ALPHA = 0.05


class Claims(msgspec.Struct, kw_only=True):
    """In how many simulations a claim was made that is false, and the gain was found."""

    board: int = 0
    race: int = 0
    afterwards: int = 0
    by_labels: int = 0
    raced: int = 0
    found: int = 0


def biased(gain: float, n_labelled: int, simulations: int) -> Claims:
    """Return the claims on three systems, the first better by `gain`, the third flattered.

    board: a bench without a race, by the judge's scores. race: that one stopped. afterwards: labels of what a
    race asked, as if its end had been planned. by_labels: the bench without a race, with labels; found: that
    the first is better than the third. raced: labels of those who were asked all questions, as the bench
    does.
    """
    claims = Claims()
    names = ["a", "b", "c"]
    means = np.array([0.7 + gain, 0.7, 0.7])
    pairs = list(combinations(range(3), 2))
    for number in range(simulations):
        rng = np.random.default_rng([7, number])
        truth = right_or_wrong(means, np.arange(QUESTIONS), rng)
        slips = rng.random(truth.shape)
        judge = np.where(truth == 1, slips >= MISSED, slips < np.array(LENIENT)).astype(np.float64)
        order = rng.permutation(QUESTIONS)[:n_labelled]
        true = {pair: means[pair[0]] - means[pair[1]] for pair in pairs}
        claims.board += _any_false(true, _raw(judge, pairs))
        labelled = {pair: _corrected(truth, judge, order, QUESTIONS, pair) for pair in pairs}
        verdicts = _holm(labelled, pairs)
        claims.by_labels += _any_false(true, verdicts)
        claims.found += verdicts[0, 2] > 0
        race, n_asked = _raced(judge, names, number)
        stopped = {names.index(each.configuration) for each in race.stopped}
        against = {names.index(each.configuration): names.index(each.against) for each in race.stopped}
        claims.race += any(means[loser] >= means[winner] for loser, winner in against.items())
        left = [at for at in range(3) if at not in stopped]
        whole = {pair for pair in pairs if set(pair) <= set(left)} if len(left) > 1 else set()
        claims.raced += _any_false(true, _holm({pair: labelled[pair] for pair in whole}, pairs))
        late = {
            pair: _corrected(
                truth, judge, order, min(n_asked[pair[0]], n_asked[pair[1]]), pair, shuffled=number
            )
            for pair in pairs
        }
        claims.afterwards += _any_false(true, _holm(late, pairs))
    return claims


Pair = tuple[int, int]
Claim = tuple[float, float]
"""A p-value, and the difference."""


def _raw(judge: Floats, pairs: Sequence[Pair]) -> dict[Pair, float]:
    more = {pair: [int((judge[:, a] > judge[:, b]).sum()) for a, b in (pair, pair[::-1])] for pair in pairs}
    return _holm({pair: (mcnemar_p(*counts), counts[0] - counts[1]) for pair, counts in more.items()}, pairs)


def _corrected(
    truth: Floats, judge: Floats, labelled: Codes, n: int, pair: Pair, shuffled: int | None = None
) -> Claim:
    """Return the claim by labels of n questions, those first that a race gave out first."""
    questions = np.arange(n) if shuffled is None else _order(shuffled)[:n]
    known = np.intersect1d(questions, labelled)
    if known.size < 3:
        return 1.0, 0.0
    others = np.setdiff1d(questions, known)
    people, seen = ((of[:, pair[0]] - of[:, pair[1]]) for of in (truth, judge))
    powered = prediction_powered_difference(people[known], seen[known], seen[others], width=1.0)
    return (1.0 if powered.p is None else powered.p), powered.corrected.value


def _holm(claims: Mapping[Pair, Claim], family: Sequence[Pair]) -> dict[Pair, float]:
    """Return the claims that stand, as the sign of the difference; 0 for the others. Missing pairs count."""
    adjusted = holm([claims[pair][0] if pair in claims else 1.0 for pair in family])
    return {
        pair: float(np.sign(claims[pair][1])) if pair in claims and p <= ALPHA else 0.0
        for pair, p in zip(family, adjusted.tolist(), strict=True)
    }


def _any_false(true: Mapping[Pair, float], claimed: Mapping[Pair, float]) -> bool:
    return any(sign and np.sign(true[pair]) != sign for pair, sign in claimed.items())


def _order(seed: int) -> Codes:
    """Return the questions as a race of this seed gives them out."""
    race = start_race(["a", "b"], [str(at) for at in range(QUESTIONS)], seed=seed)
    return np.array([int(question) for document in race.documents for question in document])


def _raced(judge: Floats, names: Sequence[str], seed: int) -> tuple[Race, list[int]]:
    race = start_race(names, [str(at) for at in range(QUESTIONS)], seed=seed)
    while questions := next_round(race):
        race = after_round(
            race,
            {
                name: {question: float(judge[int(question), names.index(name)]) for question in questions}
                for name in standing(race)
            },
        )
    return race, [len(race.scores[name]) for name in names]


def show_biased(simulations: int) -> None:
    """Print the false claims, in percent of simulations."""
    print(
        f"\nthree systems, right in 70 %; a judge that calls {MISSED:.0%} of right answers wrong, and of "
        f"wrong answers {', '.join(f'{share:.0%}' for share in LENIENT)} right; {QUESTIONS} questions, "
        f"{simulations} simulations; false claims of `better` in %"
    )
    heads = ("no race: judge", "no race: labels", "race: judge", "race: labels after", "race: bench", "found")
    print(f"{'gain':>6}{'labelled':>10}" + "".join(f"{head:>20}" for head in heads))
    for gain in (0.0, 0.1):
        for n in LABELLED:
            claims = biased(gain, n, simulations)
            values = (
                claims.board,
                claims.by_labels,
                claims.race,
                claims.afterwards,
                claims.raced,
                claims.found,
            )
            print(f"{gain:>6g}{n:>10}" + "".join(f"{100 * value / simulations:>20.1f}" for value in values))


def main() -> None:
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    simulations = numbers[0] if numbers else SIMULATIONS
    if "--biased-judge" in sys.argv:
        show_biased(simulations)
        return
    for title, table in (("races", settings()), ("sizes of rounds", rounds())):
        print(f"\n{title}, {CONFIGURATIONS} configurations, {simulations} simulations")
        head = f"{'questions':>10}{'best kept':>11}{'only best':>11}{'saved':>8}{'rounds':>8}{'s':>7}"
        print(f"{'':<40}{head}")
        for setting in table:
            began = time.perf_counter()
            found = simulate(setting, simulations)
            took = time.perf_counter() - began
            print(
                f"{setting.name:<40}{setting.n_questions:>10}{found.kept:>11.3f}{found.alone:>11.3f}"
                f"{found.saved:>8.0%}{found.rounds:>8.1f}{took:>7.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
