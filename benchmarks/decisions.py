"""How far the numbers on a judge's probabilities can be trusted, and what calibrating a judge brings.

Run: python -m benchmarks.decisions [DRAWS] [--only errors|selective|learning|server]

DRAWS: samples of each case, 1,000 without it. Judges are simulated: a probability is drawn, what it is worth
in truth is a curve of it, and people's label is drawn from that. Each table says how often an interval holds
the truth, or how near to it `judges learn --try calibration` brings a judge. The last asks a local server.
"""

import argparse
import contextlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from ragstone.features.improve.candidates._stack import StackRows, StackWeights, fit_stack
from ragstone.features.improve.learned import nearer_of, toward_of
from ragstone.kernel.judging import load_judge
from ragstone.kernel.judging.stack import log_odds_of
from ragstone.kernel.statistics import Codes, Estimate, Floats, calibration_of, selective_of, wilson_interval
from ragstone.kernel.statistics.calibration import calibration_error

Draw = Callable[[np.random.Generator, int], Floats]
FEW = (0.05, 0.3, 0.6, 0.8, 0.97)
SPREADS: dict[str, Draw] = {
    "even": lambda rng, n: rng.beta(1, 1, n),
    "at the ends": lambda rng, n: rng.beta(0.5, 0.5, n),
    "mostly high": lambda rng, n: rng.beta(6, 0.7, n),
    "five values": lambda rng, n: rng.choice(FEW, n, p=(0.15, 0.1, 0.15, 0.2, 0.4)),
}
CURVES = {
    "calibrated": (1.0, 0.0),
    "a little overconfident": (1 / 1.3, 0.0),
    "twice overconfident": (0.5, 0.0),
    "four times overconfident": (0.25, 0.0),
    "too high": (1.0, -0.8),
    "underconfident": (1.7, 0.0),
}
CASES = (
    ("calibrated", "even"),
    ("calibrated", "at the ends"),
    ("calibrated", "mostly high"),
    ("a little overconfident", "even"),
    ("twice overconfident", "at the ends"),
    ("twice overconfident", "mostly high"),
    ("twice overconfident", "five values"),
    ("four times overconfident", "even"),
    ("too high", "even"),
    ("underconfident", "even"),
)
FEWER = (CASES[0], CASES[4], CASES[5], *CASES[7:])  # for the tables that take long
SIZES = (50, 100, 200, 500)
MANY = 200_000
WITHIN = 0.05


class Sample(msgspec.Struct, frozen=True, eq=False):
    """Answers of a simulated judge: its probability, the true one, people's label, the question."""

    likely: Floats
    true: Floats
    label: Floats
    question: Codes


def sample(case: tuple[str, str], rng: np.random.Generator, n: int, each: int = 1) -> Sample:
    """Return n answers, `each` to a question; labels of one question go together (correlation some 0.4)."""
    curve, spread = case
    slope, shift = CURVES[curve]
    n -= n % each
    likely = np.clip(SPREADS[spread](rng, n), 0.001, 0.999)
    true = 1 / (1 + np.exp(-(slope * np.log(likely / (1 - likely)) + shift)))
    if each == 1:
        label = rng.random(n) < true
    else:
        shared = np.repeat(rng.standard_normal(n // each), each)
        both = np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.standard_normal(n)
        # The rank among many standard normal numbers is their distribution function, without SciPy.
        label = np.searchsorted(NORMAL, both) / len(NORMAL) < true
    return Sample(likely, true, label.astype(np.float64), np.repeat(np.arange(n // each), each))


NORMAL = np.sort(np.random.default_rng(7).standard_normal(MANY))


def share(hits: Sequence[bool]) -> str:
    """Return a share with its interval, in percent."""
    low, high = wilson_interval(sum(hits), len(hits))
    return f"{100 * np.mean(hits):5.1f} ({100 * low:.0f} to {100 * high:.0f})"


def errors(draws: int) -> None:
    """Print how often the interval of the calibration error holds the true one, and how far it is off."""
    print("\nExpected calibration error: mean of the printed minus the true, 95 % intervals that hold it")
    print(f"{'judge':44}{'answers':>8}{'truth':>7}{'as most':>9}{'ours':>8}{'held, %':>20}{'width':>7}")
    for case in CASES:
        for n, each in (*((size, 1) for size in SIZES), (300, 3)):
            rng = np.random.default_rng(1)
            everybody = sample(case, rng, MANY)
            truth = float(np.abs(everybody.likely - everybody.true).mean())
            usual, ours, held, width = [], [], [], []
            for seed in range(draws):
                rows = sample(case, rng, n, each)
                found = calibration_error(rows.likely, rows.label, rows.question, seed=seed)
                bins = np.minimum((rows.likely * 10).astype(int), 9)
                apart = np.bincount(bins, weights=rows.likely - rows.label)
                usual.append(float(np.abs(apart).sum()) / len(rows.likely))
                ours.append(found.value)
                low, high = ends(found)
                held.append(low <= truth <= high)
                width.append(high - low)
            name = f"{case[0]}, {case[1]}" + (f", {each} a question" if each > 1 else "")
            off = f"{np.mean(usual) - truth:+9.3f}{np.mean(ours) - truth:+8.3f}"
            print(f"{name:44}{n:8}{truth:7.3f}{off}{share(held):>20}{np.mean(width):7.3f}", flush=True)


def selective(draws: int) -> None:
    """Print how often the intervals of Brier score, area and surest 80 % hold the truth."""
    print("\nSelective accuracy and Brier score: 95 % intervals that hold the truth, %")
    print(f"{'judge':44}{'answers':>8}{'Brier':>19}{'area':>19}{'surest 80 %':>19}")
    for case in FEWER:
        for n, each in ((100, 1), (400, 1), (300, 3)):
            rng = np.random.default_rng(2)
            everybody = sample(case, rng, MANY)
            brier, area, surest = truths(everybody)
            held: dict[str, list[bool]] = {"brier": [], "area": [], "surest": []}
            for seed in range(draws):
                rows = sample(case, rng, n, each)
                calibration = calibration_of(
                    rows.likely, rows.label, rows.question, seed=seed, resamples=1000
                )
                found = selective_of(*surest_of(rows), rows.question, seed=seed, resamples=1000)
                if calibration is None or found is None:
                    continue
                held["brier"].append(inside(calibration.brier, brier))
                held["area"].append(inside(found.area, area))
                points = [point for point in found.points if abs(point.coverage - 0.8) <= 0.1]
                if points:
                    point = min(points, key=lambda each: abs(each.coverage - 0.8))
                    # What is said is of the answers from this probability on.
                    held["surest"].append(inside(point.right, surest(point.sure)))
            name = f"{case[0]}, {case[1]}" + (f", {each} a question" if each > 1 else "")
            cells = "".join(f"{share(hits) if hits else '':>19}" for hits in held.values())
            print(f"{name:44}{n:8}{cells}", flush=True)


def ends(estimate: Estimate) -> tuple[float, float]:
    """Return the interval; these samples all have one."""
    if estimate.low is None or estimate.high is None:
        raise ValueError("a sample of one question has no interval")
    return estimate.low, estimate.high


def inside(estimate: Estimate, truth: float) -> bool:
    """Return whether an interval holds the truth; one that is missing does not."""
    if estimate.low is None or estimate.high is None:
        return False
    return estimate.low - 1e-9 <= truth <= estimate.high + 1e-9


def surest_of(rows: Sample) -> tuple[Floats, Floats]:
    """Return how sure each verdict is, and whether it is right."""
    yes = rows.likely >= 0.5
    return np.where(yes, rows.likely, 1 - rows.likely), (yes == (rows.label == 1)).astype(np.float64)


def truths(rows: Sample) -> tuple[float, float, Callable[[float], float]]:
    """Return Brier score, area under risk over coverage, and the share right from a probability on."""
    yes = rows.likely >= 0.5
    sure, right = np.where(yes, rows.likely, 1 - rows.likely), np.where(yes, rows.true, 1 - rows.true)
    brier = float(((rows.likely - rows.true) ** 2 + rows.true * (1 - rows.true)).mean())
    at = np.unique(-sure, return_inverse=True)[1]
    wrong = np.bincount(at, weights=1 - right) / np.bincount(at)
    order = np.argsort(-sure, kind="stable")
    area = float((np.cumsum(wrong[at][order]) / np.arange(1, len(sure) + 1)).mean())
    return brier, area, lambda least: float(right[sure >= least - 1e-12].mean())


def learning(draws: int) -> None:
    """Print what is left of the calibration error after calibrating on labels, on others and in truth."""
    print(f"\nAfter calibration on labels: true error, and shares of draws in which it is at most {WITHIN}")
    print(
        "labels: to learn from; as many others are the test part. written: what that would show, in percent"
    )
    heads = "".join(f"{head:>9}" for head in ("before", "after", "on test"))
    print(f"{'judge':34}{'labels':>8}{heads}{'truth, %':>20}{'on test, %':>20}{'written, %':>20}")
    judge = [load_judge("same_answer")]
    for case in FEWER:
        for n in (100, 200):
            rng = np.random.default_rng(3)
            before, after, seen, written = [], [], [], []
            for seed in range(draws):
                learn, test, everybody = (sample(case, rng, size) for size in (n, n, 4_000))
                rows = StackRows(log_odds_of(learn.likely)[:, None], learn.label, learn.question)
                weights = fit_stack(rows, judge, seed=seed)

                def fitted(rows: Sample, weights: StackWeights = weights) -> Floats:
                    return weights.probabilities(log_odds_of(rows.likely)[:, None])

                before.append(float(np.abs(everybody.likely - everybody.true).mean()))
                after.append(float(np.abs(fitted(everybody) - everybody.true).mean()))
                seen.append(calibration_error(fitted(test), test.label, seed=seed).value)
                clusters = [str(question) for question in test.question]
                sides = test.likely, fitted(test), test.label, clusters
                toward, nearer = toward_of(*sides, seed=seed), nearer_of(*sides, seed=seed)
                assert toward
                assert nearer
                written.append(toward.verdict == "better" and nearer.difference.value > 0)
            means = "".join(f"{np.mean(values):9.3f}" for values in (before, after, seen))
            shares = [share([value <= WITHIN for value in values]) for values in (after, seen)]
            cells = "".join(f"{cell:>20}" for cell in (*shares, share(written)))
            print(f"{', '.join(case):34}{n:8}{means}{cells}", flush=True)


def server(draws: int) -> None:
    """Print what the commands make of a local decision model that is three times overconfident."""
    from tests.support.decision_server import DecisionServer, miscalibrated, serving_decisions

    from ragstone import learn_judge, load_settings

    print("\nA local server, three times overconfident: judges learn --try calibration")
    print("labels: in all, half of them the test part; the errors are those on the test part")
    print(f"{'labels':>8}{'draws':>7}{'written':>9}{'before':>9}{'after':>8}{'at most 0.05, %':>20}")
    for n in (200, 400):
        written, before, after = [], [], []
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            true = {f"answer {at}": float(p) for at, p in enumerate(rng.beta(0.9, 0.9, n))}
            believed = DecisionServer()

            def believe(
                texts: Mapping[str, str], _asked: object, true: Mapping[str, float] = true
            ) -> list[float]:
                said = miscalibrated(true[texts["answer"].strip()], 3.0)
                return [said, 1 - said]

            believed.believe = believe
            with serving_decisions(believed) as at, tempfile.TemporaryDirectory() as folder:
                home = Path(folder)
                (home / "ragstone.toml").write_text(f'[judge]\nmodel = "{at.model}"\n{at.toml()}')
                rows = [
                    {
                        "question": f"question {number}",
                        "reference": "r",
                        "answer": answer,
                        "human_label": int(rng.random() < likely),
                    }
                    for number, (answer, likely) in enumerate(true.items())
                ]
                (home / "labelled.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
                with contextlib.chdir(home):
                    learning = learn_judge(
                        "same_answer",
                        labels=home / "labelled.jsonl",
                        methods=["calibration"],
                        settings=load_settings(home / "ragstone.toml"),
                    )
            written.append(learning.verdict == "better")
            if learning.tested and learning.tested.error and learning.tested.error_before:
                before.append(learning.tested.error_before.value)
                after.append(learning.tested.error.value)
        reached = share([value <= WITHIN for value in after]) if after else ""
        numbers = f"{np.mean(before):9.3f}{np.mean(after):8.3f}" if after else ""
        print(f"{n:8}{draws:7}{sum(written):9}{numbers}{reached:>20}", flush=True)


TABLES: dict[str, tuple[Callable[[int], None], int]] = {
    "errors": (errors, 1),
    "selective": (selective, 5),
    "learning": (learning, 5),
    "server": (server, 50),
}


def main() -> None:
    """Print the tables; those that take long have fewer draws."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("draws", type=int, nargs="?", default=1000)
    parser.add_argument("--only", choices=[*TABLES])
    arguments = parser.parse_args()
    for name, (table, fewer) in TABLES.items():
        if arguments.only in (None, name):
            table(max(4, arguments.draws // fewer))


if __name__ == "__main__":
    main()
