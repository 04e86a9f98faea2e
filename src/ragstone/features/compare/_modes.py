"""The failure modes of two run folders -> of which B has fewer, of which more, and what cannot be told."""

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ragstone.features.compare.matching import JudgedRun
from ragstone.features.compare.values import ComparedModes, Comparison, ModeDifference
from ragstone.kernel.judging import question_clusters
from ragstone.kernel.records import split_repeat
from ragstone.kernel.runs.modes import Mode, ModeShare, read_mode_rows, read_modes
from ragstone.kernel.statistics import Estimate, Floats, holm, mean_estimate
from ragstone.kernel.statistics.families import ALPHA, difference_and_test

Verdicts = dict[str, float]  # question id -> the share of its repeats that have the mode


class _Difference(NamedTuple):
    mode: tuple[Mode, Mode]
    systems: tuple[str, str]
    values: Floats
    a: Estimate
    b: Estimate
    difference: Estimate
    p: float
    is_by_people: bool


def compare_modes(
    folders: tuple[Path, Path],
    sides: tuple[JudgedRun, JudgedRun],
    comparison: Comparison,
    *,
    is_whole: bool,
    seed: int,
) -> ComparedModes | None:
    """Return the difference in each mode that both runs count by the same file; None where neither has modes.

    By the mode's judge it is paired by question, as metrics are. Where people have labelled answers of both
    runs for the mode's question, it is that of what their labels say of all answers, with the interval of a
    difference of two estimates (MOVER, Zou and Donner 2008): the labels of the two runs were drawn apart.
    is_whole: all questions of the runs are compared, as the shares by people's labels are of all. Raises
    DataError for files that cannot be read.
    """
    if not all(folder.is_dir() for folder in folders):
        return None
    summaries = [read_modes(folder) for folder in folders]
    ours, theirs = ({mode.name: mode for mode in found.modes} if found else {} for found in summaries)
    shared = [
        (mode, other)
        for mode in ours.values()
        if (other := theirs.get(mode.name))
        and (mode.digest, mode.judge_digest) == (other.digest, other.judge_digest)
    ]
    others = sorted({*ours, *theirs} - {mode.name for mode, _ in shared})
    if not shared and not others:
        return None
    rows = [read_mode_rows(folder) for folder in folders]
    wanted = [{row.question_id for row in side.judgements} for side in sides]
    questions = {row.id: row for side in reversed(sides) for row in side.questions}
    clusters = question_clusters(questions.values(), [row for side in sides for row in side.judgements])
    pairs = list(dict.fromkeys((row.a.system, row.b.system) for row in comparison.metrics))
    found = [
        difference
        for both in shared
        for systems in pairs
        if (
            difference := _difference(
                both,
                systems,
                [
                    _verdicts(of_side.get(mode.name, {}), system, wanted[0] & wanted[1])
                    for of_side, mode, system in zip(rows, both, systems, strict=True)
                ],
                clusters,
                use_people=is_whole and len(pairs) == 1,
                seed=seed,
            )
        )
    ]
    adjusted = holm([row.p for row in found]).tolist() if found else []
    return ComparedModes(
        modes=[_told(row, float(p), len(found)) for row, p in zip(found, adjusted, strict=True)],
        not_compared=others,
    )


def _verdicts(rows: dict[tuple[str, str], bool], system: str, wanted: set[str]) -> Verdicts:
    repeats: dict[str, list[bool]] = defaultdict(list)
    for (question, name), has_it in rows.items():
        if question in wanted and split_repeat(name)[0] == system:
            repeats[question].append(has_it)
    return {question: sum(some) / len(some) for question, some in repeats.items()}


def _difference(
    both: tuple[Mode, Mode],
    systems: tuple[str, str],
    verdicts: Sequence[Verdicts],
    clusters: dict[str, str],
    *,
    use_people: bool,
    seed: int,
) -> _Difference | None:
    """Return the difference in a mode; None where no question has a verdict on both answers."""
    ids = sorted(verdicts[0].keys() & verdicts[1].keys())
    if not ids:
        return None
    values = np.array([[side[name] for side in verdicts] for name in ids], dtype=np.float64)
    shares = both[0].prevalence, both[1].prevalence
    if use_people and shares[0] and shares[1]:
        difference, p = _between(shares[0], shares[1])
        a, b = (_estimate(share.value, share.low, share.high, share.n) for share in (shares[0], shares[1]))
        return _Difference(both, systems, values, a, b, difference, p, is_by_people=True)
    groups = [f"shared {clusters[name]}" if name in clusters else f"question {name}" for name in ids]
    test = difference_and_test(values, groups, seed=seed)
    means = [mean_estimate(values[:, at], groups, seed=seed, proportion=True) for at in (0, 1)]
    if means[0] is None or means[1] is None:
        return None
    return _Difference(both, systems, values, means[0], means[1], test.difference, test.p, is_by_people=False)


def _between(a: ModeShare, b: ModeShare) -> tuple[Estimate, float]:
    """Return B's share minus A's, of two that were estimated apart, and the p-value of no difference."""
    value = b.value - a.value
    below, above = (
        math.hypot(b.value - b.low, a.high - a.value),
        math.hypot(b.high - b.value, a.value - a.low),
    )
    towards_0 = below if value > 0 else above
    p = 0.0 if value else 1.0  # where both runs are labelled in full, nothing is open
    if value and towards_0:
        p = 2 * (1 - NormalDist().cdf(abs(value) / towards_0 * NormalDist().inv_cdf(0.975)))
    return _estimate(value, value - below, value + above, a.n + b.n), p


def _estimate(value: float, low: float, high: float, n: int) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=n, method="components")


def _told(row: _Difference, p_holm: float, family: int) -> ModeDifference:
    mode, other = row.mode
    return ModeDifference(
        name=mode.name,
        title=mode.title,
        system_a=row.systems[0],
        system_b=row.systems[1],
        by="people" if row.is_by_people else "judge",
        n=len(row.values),
        n_labelled=(mode.n_labelled, other.n_labelled),
        n_changed=int(np.count_nonzero(row.values[:, 0] != row.values[:, 1])),
        a=row.a,
        b=row.b,
        difference=row.difference,
        p=row.p,
        p_holm=p_holm,
        family=family,
        verdict="cannot tell" if p_holm > ALPHA else "fewer" if row.difference.value < 0 else "more",
    )
