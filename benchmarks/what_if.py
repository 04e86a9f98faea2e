"""What changes would bring, by `ragstone blame --what-if`, beside what they do bring.

    python -m benchmarks.what_if [DRAWS] [RUNS]

A world of questions, three of which share a document: a retriever that misses, a model that ignores or
misreads passages, and more so the more of them it is given, a judge that errs, wrong references. Each draw
has 150 questions, 50 right answers asked again, and 60 labelled by people. A change is made to the whole
world (a million questions): how often does the 95 % interval of its price hold what the change brings there?
Then whole runs of 120 questions through the door, with a scripted endpoint. Some 2 minutes on one core, and 3
s a run.
"""

import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean

import msgspec
import numpy as np
from tests.support.fake_openai import serving
from tests.support.planted_faults import FAULTS, LEAD, Rates
from tests.support.planted_run import plant_run

import ragstone
from ragstone.features.blame._causes import KnownAnswer, PointFacts
from ragstone.features.blame._desk import ChangedAnswers
from ragstone.features.blame._points import CountedPoint, Points
from ragstone.features.blame._what_if import PricingSample, prices
from ragstone.kernel.runs.causes import ChangePrice, NetPoints, SystemChange

DRAWS, RUNS, QUESTIONS, SAMPLE, LABELS, WORLD, OF_A_RUN = 400, 20, 150, 50, 60, 1_000_000, 120
PER_DOCUMENT, ALIKE = 3, 0.3  # questions of a document; how often they share its fate
WRONG, TRUE, REFUSED = (
    0,
    1,
    2,
)  # what an answer may say; a wrong one from the passages, or from memory, is one
ASKED: tuple[SystemChange, ...] = (
    "right documents",
    "right document first",
    "other model",
    "other model, right documents",
)
Flags = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


class World(msgspec.Struct, frozen=True):
    """Questions of an application. found: the document is among the contexts. now, changed: what is right by
    the judge; truly_now, truly: by people.
    """

    found: Flags
    now: Flags
    changed: Mapping[SystemChange, Flags]
    truly_now: Flags
    truly: Mapping[SystemChange, Flags]


def world(rates: Rates, n: int, rng: np.random.Generator, *, other: Rates, harsher: float = 1.0) -> World:
    """Return questions with these rates of faults. other: the rates of the other model.

    harsher: how many times as often the judge is lenient with an answer that was made from the right
    documents, against what taking out its error assumes.
    """

    def happens(rate: float, shared: bool = False) -> Flags:
        own = rng.random(n)
        if not shared:
            return own < rate
        fate = np.repeat(rng.random(-(-n // PER_DOCUMENT)), PER_DOCUMENT)[:n]
        return np.where(rng.random(n) < ALIKE, fate, own) < rate

    found, known, wrong = (
        ~happens(rates.missed, True),
        happens(rates.known),
        happens(rates.wrong_reference, True),
    )
    of_model = {
        name: (happens(of.ignores), rng.random(n), rng.random(n), of.misreads, of.gives_up)
        for name, of in (("own", rates), ("other", other))
    }
    verdicts = {says: (happens(rates.harsh), happens(rates.lenient)) for says in (WRONG, TRUE, REFUSED)}
    more = happens(min(1.0, rates.lenient * (harsher - 1))) if harsher > 1 else np.zeros(n, dtype=bool)

    def says(model: str, has: Flags, crowd: float) -> np.ndarray:
        ignores, reading, giving, misreads, gives_up = of_model[model]
        read = np.where(reading < misreads * crowd, WRONG, TRUE)
        blind = np.where(~ignores & (giving < gives_up), REFUSED, np.where(known, TRUE, WRONG))
        return np.where(has & ~ignores, read, blind)

    def judged(said: np.ndarray, gold: bool = False) -> Flags:
        harsh = np.choose(said, [verdicts[says_so][0] for says_so in (WRONG, TRUE, REFUSED)])
        lenient = np.choose(said, [verdicts[says_so][1] for says_so in (WRONG, TRUE, REFUSED)])
        matches = (said == TRUE) & ~wrong
        return np.where(matches, ~harsh, lenient | (more & gold))

    everywhere = np.ones(n, dtype=bool)
    # A model misreads a passage among others three times as often as one that is alone.
    said = {
        "right documents": says("own", everywhere, 1.0),
        "right document first": says("own", everywhere, 2.0),
        "other model": says("other", found, 3.0),
        "other model, right documents": says("other", everywhere, 1.0),
    }
    now = says("own", found, 3.0)
    return World(
        found,
        judged(now),
        {change: judged(said[change], change != "other model") for change in ASKED},
        now == TRUE,
        {change: said[change] == TRUE for change in ASKED},
    )


def drawn_prices(draw: World, rng: np.random.Generator) -> list[ChangePrice]:
    """Return the prices that blame gives of these questions, from lost points and a sample of the others."""
    n = len(draw.now)
    labelled = {*rng.permutation(n)[:LABELS].tolist()}
    points = [
        CountedPoint(
            question_id=str(at),
            lost=not draw.now[at],
            second=bool(draw.truly_now[at]) if at in labelled else None,
        )
        for at in range(n)
    ]
    lost, right = np.flatnonzero(~draw.now), rng.permutation(np.flatnonzero(draw.now))[:SAMPLE]
    few = rng.permutation(lost)[:SAMPLE]
    changes: dict[SystemChange, ChangedAnswers] = {}
    for change in ASKED:
        asked = [*(lost if change == "right documents" else few), *right]
        changes[change] = ChangedAnswers(
            wanted=[str(at) for at in asked], right={str(at): bool(draw.changed[change][at]) for at in asked}
        )
    facts = [
        PointFacts(point=points[at], answer=KnownAnswer(text=""), relevant=["d"], found=bool(draw.found[at]))
        for at in lost
    ]
    names = [point.question_id for point in points]
    replies = PricingSample(
        points=points, named={*names}, retrieved={name: [] for name in names}, changes=changes
    )
    clusters = {str(at): f"d{at // PER_DOCUMENT}" for at in range(n)}
    whole = Points(lead=LEAD, counted=points, left_out={})
    return prices(whole, replies, facts, [], clusters, reader="other", by_people=True)


def holds(points: NetPoints, truth: float) -> tuple[bool, float]:
    return points.low <= truth <= points.high, points.high - points.low


def show(title: str, rates: Rates, n_draws: int, *, harsher: float = 1.0) -> None:
    """Print one world: what each change brings, and how often its intervals hold that."""
    other = Rates(**{**rates.__dict__, "ignores": rates.ignores / 2})
    rng = np.random.default_rng(5)
    whole = world(rates, WORLD, rng, other=other, harsher=harsher)
    truth = {change: float(whole.changed[change].mean() - whole.now.mean()) for change in ASKED}
    truly = {change: float(whole.truly[change].mean() - whole.truly_now.mean()) for change in ASKED}
    bounds: dict[SystemChange, float] = {
        "contexts read": float((~whole.now & whole.found).mean()),
        "right documents, all read": float((~whole.now).mean()),
    }
    found: dict[SystemChange, list[tuple[bool, float]]] = defaultdict(list)
    people: dict[SystemChange, list[tuple[bool, float]]] = defaultdict(list)
    values: dict[SystemChange, list[float]] = defaultdict(list)
    for _ in range(n_draws):
        for price in drawn_prices(world(rates, QUESTIONS, rng, other=other, harsher=harsher), rng):
            if price.change == "second opinion":
                continue
            expected = (truth if price.basis == "measured" else bounds)[price.change]
            found[price.change].append(holds(price.points, expected))
            values[price.change].append(price.points.value)
            if price.people:
                people[price.change].append(holds(price.people, truly[price.change]))
    print(f"{title}: {whole.now.mean():.0%} right by the judge, {whole.truly_now.mean():.0%} by people")
    for change, rows in found.items():
        expected = truth.get(change, bounds.get(change, 0.0))
        line = f"  {change:29} {100 * expected:+5.1f}  mean {100 * fmean(values[change]):+5.1f}  "
        line += (
            f"holds {fmean(row[0] for row in rows):6.1%}  width {100 * fmean(row[1] for row in rows):4.1f}"
        )
        if people[change]:
            seen = people[change]
            line += f"   people {100 * truly[change]:+5.1f}  holds {fmean(row[0] for row in seen):6.1%}  "
            line += f"width {100 * fmean(row[1] for row in seen):4.1f}  given in {len(seen) / n_draws:.0%}"
        print(line)


def of_runs(
    rates: Rates, n_runs: int
) -> Iterator[tuple[Mapping[SystemChange, ChangePrice], Mapping[SystemChange, ChangePrice]]]:
    """Yield the prices of whole runs through the door: of 20 right answers, and of all questions."""
    with serving() as fake:
        for seed in range(n_runs):
            with tempfile.TemporaryDirectory() as folder:
                settings = plant_run(Path(folder), fake, rates, seed, OF_A_RUN)
                ragstone.run(settings)
                path = Path(folder) / "runs" / "planted"
                sampled, whole = (
                    {row.change: row for row in blamed.systems[0].prices}
                    for blamed in (ragstone.blame(path, settings=settings, what_if=n) for n in (20, OF_A_RUN))
                )
                yield sampled, whole


def main() -> None:
    given = [int(text) for text in sys.argv[1:3]]
    n_draws, n_runs = (*given, *(DRAWS, RUNS)[len(given) :])
    for fault, (rates, _) in FAULTS.items():
        show(fault, rates, n_draws)
    show("no fault but the background", Rates(), n_draws)
    show("a judge three times as lenient with the right documents", Rates(missed=0.3), n_draws, harsher=3.0)
    if not n_runs:
        return
    print("\nwhole runs through the door: what all questions give, in the interval of 20 right answers")
    for fault, (rates, _) in FAULTS.items():
        runs = [*of_runs(rates, n_runs)]
        for change in ASKED[:2]:
            n_held = sum(holds(few[change].points, whole[change].points.value)[0] for few, whole in runs)
            gains = fmean(100 * whole[change].points.value for _, whole in runs)
            print(f"  {fault:62} {change:21} {gains:+5.1f}  held {n_held} of {len(runs)}")


if __name__ == "__main__":
    main()
