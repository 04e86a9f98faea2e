"""How long a report card takes, and whether its intervals hold what they promise.

Run: python benchmarks/agreement.py
"""

import math
import resource
import time

import numpy as np

from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.records import Judgement, Label
from ragstone.kernel.statistics import (
    Estimate,
    Floats,
    cohen_kappa,
    kendall_tau,
    krippendorff_alpha,
    mean_estimate,
    pearson,
    roc_auc,
    spearman,
)
from ragstone.kernel.statistics.kappa import quadratic

GRADES = [0.0, 1.0, 2.0]
SIMULATIONS = 300
SYSTEMS = 5
LANGS = ("de", "en", "fr")


def grades(n_clusters: int, size: int, rng: np.random.Generator) -> tuple[Floats, Floats, list[int]]:
    """Return human and judge grades 0 to 2 and their clusters; a question makes both hard or easy alike."""
    cluster = np.repeat(np.arange(n_clusters), size)
    shared = rng.normal(size=n_clusters)[cluster]
    quality = shared + rng.normal(size=cluster.size)
    human = np.digitize(quality + 0.5 * rng.normal(size=cluster.size), [-0.8, 0.8]).astype(float)
    lean = 0.3 * rng.normal(size=n_clusters)[cluster]
    judge = np.digitize(quality + 0.2 + lean + 0.7 * rng.normal(size=cluster.size), [-0.8, 0.8]).astype(float)
    return human, judge, cluster.tolist()


def rows(
    human: Floats, judge: Floats, clusters: list[int], top: float
) -> tuple[list[Judgement], list[Label]]:
    judgements = [
        Judgement(
            question_id=f"q{i}",
            system=f"system {i % SYSTEMS}",
            judge="rubric",
            metric="m",
            status="scored",
            model="x/y",
            prompt_version=1,
            score=float(score),
            scale=(0, top),
        )
        for i, score in enumerate(judge)
    ]
    labels = [
        Label(
            question_id=f"q{i}",
            system=f"system {i % SYSTEMS}",
            score=float(score),
            metadata={"question": f"question {cluster}", "lang": LANGS[i % len(LANGS)]},
        )
        for i, (score, cluster) in enumerate(zip(human, clusters, strict=True))
    ]
    return judgements, labels


def timing() -> None:
    """Whole cards with 10,000 resamples: by five systems and three languages, beside every measure."""
    rng = np.random.default_rng(0)
    print(f"{'report card':<44}{'pairs':>9}{'clusters':>10}{'seconds':>9}{'CPU s':>9}{'peak MB':>9}")
    for n_clusters, size in ((600, 5), (20_000, 5), (100_000, 1)):
        human, judge, clusters = grades(n_clusters, size, rng)
        percent: Floats = np.round(50 * judge / 2 + 50 * rng.random(judge.size), 3)
        people = np.round(np.clip(percent + 10 * rng.normal(size=judge.size), 0.0, 100.0), 3)
        yes = np.minimum(human, np.float64(1))
        thirds: Floats = np.minimum(human + (human > 1) * rng.integers(0, 2, human.size), 3)
        for name, ours, theirs, top, threshold in (
            ("grades 0 to 3", thirds, judge, 3, None),
            ("labels 0/1, judge 0 to 100", yes, percent, 100, None),
            ("labels 0/1, judge 0 to 100, threshold", yes, percent, 100, 50),
            ("labels 0/1, judge 0 to 100 in whole numbers", yes, np.round(percent), 100, None),
            ("both 0 to 100", people, percent, 100, None),
        ):
            judgements, labels = rows(np.asarray(ours, np.float64), theirs, clusters, top)
            start, cpu = time.perf_counter(), time.process_time()
            report_cards(judgements, labels, threshold=threshold)
            seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{name:<44}{judge.size:>9,}{n_clusters:>10,}{seconds:>9.2f}{cpu:>9.2f}{peak:>9,.0f}")


def coverage() -> None:
    rng = np.random.default_rng(1)
    human, judge, _ = grades(400_000, 1, rng)
    truth = {
        "exact agreement": float(np.mean(human == judge)),
        "kappa": cohen_kappa(human, judge, GRADES),
        "quadratic kappa": cohen_kappa(human, judge, GRADES, quadratic),
        "ordinal alpha": krippendorff_alpha(
            np.concatenate([human, judge]), np.tile(np.arange(human.size), 2), "ordinal"
        ),
        "Pearson": pearson(human, judge),
        "Spearman": spearman(human, judge),
        "Kendall tau-b": kendall_tau(human, judge),
        "signed error": float(np.mean(judge - human)),
    }
    print(
        f"\n{'coverage of 95 % intervals (aim: 95)':<44}" + "".join(f"{n:>5} x 5" for n in (10, 20, 50, 200))
    )
    held: dict[str, list[float]] = {name: [] for name in truth}
    for n_clusters in (10, 20, 50, 200):
        inside = dict.fromkeys(truth, 0)
        for _ in range(SIMULATIONS):
            card = report_cards(*rows(*grades(n_clusters, 5, rng), 2), resamples=1000)[0]
            for name, value in truth.items():
                found = card.agreement[name]
                inside[name] += _holds(found, value)
        for name, n in inside.items():
            held[name].append(100 * n / SIMULATIONS)
    for name, shares in held.items():
        print(f"{name:<44}" + "".join(f"{share:>9.1f}" for share in shares))
    continuous(rng)
    skewed = [_mean_holds(rng) for _ in range(SIMULATIONS)]
    print(f"{'mean of 50 skewed values (log-normal)':<44}{100 * np.mean(skewed):>9.1f}")


def continuous(rng: np.random.Generator) -> None:
    """Percentages, 200 answers to 40 questions: the intervals that rest on a first-order expansion."""

    def draw(n_clusters: int) -> tuple[Floats, Floats, list[int]]:
        cluster = np.repeat(np.arange(n_clusters), 5)
        quality = rng.normal(size=n_clusters)[cluster] + rng.normal(size=cluster.size)
        yes = (quality + 0.5 * rng.normal(size=cluster.size) > 0).astype(float)
        return yes, np.clip(50 + 20 * quality + 10 * rng.normal(size=cluster.size), 0, 100), cluster.tolist()

    human, judge, _ = draw(80_000)
    truth = {
        "Pearson": pearson(human, judge),
        "Spearman": spearman(human, judge),
        "Kendall tau-b": kendall_tau(human, judge),
        "ROC AUC": roc_auc(human, judge),
    }
    inside = dict.fromkeys(truth, 0)
    for _ in range(SIMULATIONS):
        card = report_cards(*rows(*draw(40), 100), resamples=1000)[0]
        for name, value in truth.items():
            inside[name] += _holds(card.agreement[name], value)
    for name, n in inside.items():
        print(f"{name + ', labels 0/1, percentages, 40 x 5':<44}{100 * n / SIMULATIONS:>9.1f}")


def _mean_holds(rng: np.random.Generator) -> bool:
    return _holds(mean_estimate(rng.lognormal(sigma=0.7, size=50)), math.exp(0.7**2 / 2))


def _holds(found: Estimate | None, truth: float | None) -> bool:
    if found is None or found.low is None or found.high is None or truth is None:
        return False
    return found.low <= truth <= found.high


if __name__ == "__main__":
    timing()
    coverage()
