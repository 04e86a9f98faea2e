"""Modes that a model names after reading a part of the wrong answers -> those that the other parts confirm.

The wrong answers are cut into three parts by what they share. A mode of one part is asked about the wrong
answers of the other two, and about right ones: wrong ones must have it more often, by an exact test that is
no less than a robust score test where answers share clusters. Of all candidates those are named that the
procedure of Benjamini and Hochberg (1995) rejects at the level. So a run whose failures have nothing to do
with its answers names one in at most that share of cases, and of the candidates that are confirmed in other
runs at most that share is false on average: both where the tests are independent or positively dependent
(Benjamini and Yekutieli 2001), as tests of the same answers by questions that mean the same are. Of the modes
that are named more may be false: a true one is often confirmed once for each part, and named once.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from ragstone.features.modes._plan import ModesPlan
from ragstone.features.modes._reading import MOST_MODES, ReadMode
from ragstone.features.modes.proposing import FEWEST, confirming_p
from ragstone.kernel.judging import Judge
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.runs.modes import has_mode
from ragstone.kernel.statistics import Floats, cluster_codes

PARTS, FEWEST_FOR_ALL = 3, 30  # parts of the wrong answers; of fewer wrong answers there are two
MOST_SHOWN = 60  # wrong answers of a part that a model reads
MOST_ASKED = 400  # wrong answers, and as many right ones, that a mode is tested on
SAME = 0.5  # of the wrong answers that one of two modes holds, that both hold: then they are one

Key = tuple[str, str]


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """The wrong answers in parts, and what a mode of each part is tested on: wrong ones, then right ones."""

    shown: list[list[Answer]]
    tests: list[list[Answer]]


class CandidateMode(msgspec.Struct, frozen=True, kw_only=True):
    """A mode that a model proposed, with what its judge says of the answers that it was tested on."""

    mode: ReadMode
    judge: Judge
    rows: list[Judgement]


def cut_in_parts(plan: ModesPlan, seed: int) -> Parts:
    """Return what is read and tested on, drawn at random. Wrong answers of a cluster are in one part."""
    rng = np.random.default_rng(seed)
    clusters: dict[str, list[Answer]] = defaultdict(list)
    for row in plan.answers:
        if plan.wrong[row.question_id, row.system]:
            clusters[plan.clusters.get(row.question_id, row.question_id)].append(row)
    right = [row for row in plan.answers if not plan.wrong[row.question_id, row.system]]
    right = [right[at] for at in rng.permutation(len(right))[:MOST_ASKED]]
    groups = [*clusters.values()]
    parts: list[list[Answer]] = [[] for _ in range(PARTS if plan.n_wrong >= FEWEST_FOR_ALL else 2)]
    for group in sorted((groups[at] for at in rng.permutation(len(groups))), key=len, reverse=True):
        min(parts, key=len).extend(group)
    parts = [[part[at] for at in rng.permutation(len(part))] for part in parts]
    tests = []
    for number in range(len(parts)):
        rest = [row for other, part in enumerate(parts) if other != number for row in part]
        tests.append([*(rest[at] for at in rng.permutation(len(rest))[:MOST_ASKED]), *right])
    # Where too few wrong answers are left to confirm anything, nothing is read.
    shown = [part[:MOST_SHOWN] if plan.n_wrong - len(part) >= FEWEST else [] for part in parts]
    return Parts(shown=shown, tests=tests)


def confirmed_modes(
    plan: ModesPlan, tested: Sequence[CandidateMode], known: Sequence[Iterable[Key]], alpha: float
) -> tuple[list[CandidateMode], int, int]:
    """Return the modes that are confirmed, the most certain first; how many of all have a mode file; repeats.

    known: the answers of each mode that has a file. A repeat holds the wrong answers of one before it.
    """
    p_values = np.array([_p_value(plan, one.rows) for one in tested])
    corrected = _false_discovery(p_values)
    chosen: list[CandidateMode] = []
    held: list[tuple[set[Key], set[Key]]] = []
    n_known = n_repeated = 0
    of_files = [set(keys) for keys in known]
    for at in np.argsort(p_values, kind="stable"):
        if corrected[at] > alpha:
            break
        asked, own = _wrong(plan, tested[at].rows)
        if any(_are_same(own, keys & asked) for keys in of_files):
            n_known += 1
        elif any(_are_same(own & theirs, keys & asked) for theirs, keys in held):
            n_repeated += 1
        elif len(chosen) < MOST_MODES:
            chosen.append(tested[at])
            held.append((asked, own))
    return chosen, n_known, n_repeated


def _are_same(first: set[Key], second: set[Key]) -> bool:
    return len(first & second) >= SAME * len(first | second) > 0


def _wrong(plan: ModesPlan, rows: Iterable[Judgement]) -> tuple[set[Key], set[Key]]:
    """Return the wrong answers that a mode's judge was asked about, and those that have the mode."""
    verdicts = {
        (row.question_id, row.system): has_it
        for row in rows
        if (has_it := has_mode(row)) is not None and plan.wrong[row.question_id, row.system]
    }
    return set(verdicts), {key for key, has_it in verdicts.items() if has_it}


def _p_value(plan: ModesPlan, rows: Sequence[Judgement]) -> float:
    """Return the p-value that wrong answers have the mode no more often than right ones."""
    verdicts = [
        ((row.question_id, row.system), has_it) for row in rows if (has_it := has_mode(row)) is not None
    ]
    carried = np.array([has_it for _, has_it in verdicts], dtype=np.bool_)
    wrong = np.array([plan.wrong[key] for key, _ in verdicts], dtype=np.bool_)
    if (carried & wrong).sum() < FEWEST:
        return 1.0
    codes = cluster_codes([plan.clusters.get(name, name) for (name, _), _ in verdicts], len(verdicts))
    return confirming_p(carried, wrong, codes)


def _false_discovery(p_values: Floats) -> Floats:
    """Return the level from which on each is rejected by the procedure of Benjamini and Hochberg."""
    n = len(p_values)
    order = np.argsort(p_values)[::-1]
    corrected = np.empty(n)
    corrected[order] = np.minimum.accumulate(p_values[order] * n / np.arange(n, 0, -1)) if n else p_values
    return np.minimum(corrected, 1.0)
