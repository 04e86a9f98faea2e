"""How many answers have a mode: which are looked at, with known chances, and what the labels of these say."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.kernel.agreement.pairing import inclusion_of
from ragstone.kernel.agreement.policies import AGAIN, CHOSEN, policy_of
from ragstone.kernel.records import Label
from ragstone.kernel.runs.modes import Mode, ModeShare
from ragstone.kernel.statistics import Floats, wilson_interval

Key = tuple[str, str]
"""An answer: (question id, system)."""
SHARE_OF_YES = 0.4  # of a queue, for answers that have the mode by its judge
DRAWS = 10_000
LEVEL = (0.025, 0.975)
# Of each stratum, what is believed of the share before a label: Jeffreys' for those that the judge names, and
# for all others that few have it. Simulated in benchmarks/modes.py.
PRIORS = ((0.5, 0.5), (0.3, 1.0), (0.3, 1.0), (0.3, 1.0))
YES, NO_WRONG, NO_RIGHT, UNSCORED = range(4)
QUEUE = "mode"  # the first part of the name of a draw, before the digest of the mode's judge


class DrawnRow(msgspec.Struct, frozen=True):
    """An answer to look at. inclusion: its chance to be drawn."""

    key: Key
    inclusion: float


class ModeRows(msgspec.Struct, frozen=True, kw_only=True):
    """A run's answers for one mode. has_it: by its judge, of those that it scored. wrong: by the run's."""

    keys: Sequence[Key]
    has_it: Mapping[Key, bool]
    wrong: Mapping[Key, bool]

    def stratum(self, key: Key) -> int:
        """Return the stratum of an answer."""
        if key not in self.has_it:
            return UNSCORED
        return YES if self.has_it[key] else NO_WRONG if self.wrong.get(key) else NO_RIGHT


def draw_rows(rows: ModeRows, n: int, seed: int) -> list[DrawnRow]:
    """Return n answers in random order: two fifths that have the mode by its judge, the rest of the others.

    Within a stratum all have the same chance. Of those that it does not name, the wrong ones have a larger
    chance than the right ones.
    """
    rng = np.random.default_rng(seed)
    strata: list[list[Key]] = [[] for _ in PRIORS]
    for key in rows.keys:
        strata[rows.stratum(key)].append(key)
    sizes = np.array([len(stratum) for stratum in strata])
    wanted = np.zeros(len(strata), dtype=np.intp)
    wanted[YES] = min(sizes[YES], round(SHARE_OF_YES * n))
    # The rest as the square root of the size: the wrong ones are fewer, and more of them have the mode.
    roots = np.sqrt(sizes) * (np.arange(len(strata)) != YES)
    if roots.sum():
        wanted += np.minimum(
            sizes - wanted, np.floor((n - wanted[YES]) * roots / roots.sum()).astype(np.intp)
        )
    for at in (NO_WRONG, NO_RIGHT, UNSCORED, YES):  # what is left over by rounding, or where one is small
        wanted[at] += max(0, min(sizes[at] - wanted[at], n - wanted.sum()))
    drawn = [
        DrawnRow(stratum[place], round(float(count) / len(stratum), 9))
        for stratum, count in zip(strata, wanted, strict=True)
        for place in rng.permutation(len(stratum))[:count]
    ]
    return [drawn[place] for place in rng.permutation(len(drawn))]


def queue_name(mode: Mode, drawn: Sequence[DrawnRow]) -> str:
    """Return the name of a draw: the same for the same one. It says which judge the chances follow."""
    digest = hashlib.sha256(msgspec.json.encode([mode.digest, drawn])).hexdigest()[:8]
    return f"{QUEUE}-{mode.judge_digest[:8]}-{digest}"


def labels_of(mode: Mode, labels: Iterable[Label], texts: Mapping[Key, str]) -> tuple[list[Label], int]:
    """Return the labels that were given for the mode's question, however the mode is called by now.

    And how many name this mode and were given for another question, or for another answer than the run has
    (texts) now. Labels of answers that somebody chose, and that are no sample, are left out.
    """
    used: list[Label] = []
    n_other = 0
    for label in labels:
        columns = label.metadata or {}
        text = columns.get("answer")
        is_of_answer = text is None or texts.get((label.question_id, label.system), text) == text
        if policy_of(label) == mode.digest and is_of_answer:
            used += [] if columns.get(AGAIN) or columns.get(CHOSEN) else [label]
        else:
            n_other += policy_of(label) == mode.digest or label.metric == mode.name
    return used, n_other


def with_counts(mode: Mode, rows: ModeRows, labels: Sequence[Label], *, seed: int = 0) -> Mode:
    """Return the mode with what people's labels of its question say: precision, recall, prevalence.

    Of several labels of an answer the mean counts, and a tie says nothing. The intervals hold the noise of
    which answers were looked at, not that of the questions.
    """
    known = set(rows.keys)
    given: dict[Key, list[Label]] = {}
    for label in labels:
        if (label.question_id, label.system) in known:
            given.setdefault((label.question_id, label.system), []).append(label)
    means = {key: sum(label.score for label in some) / len(some) for key, some in given.items()}
    truth = {key: mean > 0.5 for key, mean in means.items() if mean != 0.5}
    looked_at = [key for key in truth if rows.has_it.get(key)]
    mode = msgspec.structs.replace(
        mode,
        n_labelled=len(truth),
        n_looked_at=len(looked_at),
        n_true=sum(truth[key] for key in looked_at),
    )
    if not truth:
        return mode
    if _fit({key: given[key][0] for key in truth}, mode, rows):
        return _by_strata(mode, rows, truth, seed)
    return _by_weights(mode, rows, truth, {key: inclusion_of(given[key][0]) or 1.0 for key in truth})


def _fit(labels: Mapping[Key, Label], mode: Mode, rows: ModeRows) -> bool:
    """Whether the labels' chances follow the strata of now, or were those of every answer.

    They do not where the mode's judge is another one, and where other answers are wrong than were when the
    queue was drawn: answers of one stratum then had different chances.
    """
    chances: dict[tuple[str, int], float] = {}
    for key, label in labels.items():
        queue, chance = str((label.metadata or {}).get("queue") or ""), inclusion_of(label)
        if chance is None:
            continue
        if not queue.startswith(f"{QUEUE}-{mode.judge_digest[:8]}-"):
            return False
        if chances.setdefault((queue, rows.stratum(key)), chance) != chance:
            return False
    return True


def _by_strata(mode: Mode, rows: ModeRows, truth: Mapping[Key, bool], seed: int) -> Mode:
    """Return the counts where all answers of a stratum had the same chance to be looked at.

    The answers that nobody looked at are drawn from the beta-binomial distribution that those of their
    stratum leave: what is counted is the answers of this run, so nothing is open once all are labelled.
    """
    rng = np.random.default_rng(seed)
    size, n, k = (np.zeros(len(PRIORS)) for _ in range(3))
    for key in rows.keys:
        size[rows.stratum(key)] += 1
    for key, is_true in truth.items():
        n[rows.stratum(key)] += 1
        k[rows.stratum(key)] += is_true
    totals = np.array(
        [
            k[at]
            + rng.binomial(int(size[at] - n[at]), rng.beta(first + k[at], second + n[at] - k[at], DRAWS))
            for at, (first, second) in enumerate(PRIORS)
        ]
    )
    expected = np.array([size[at] * k[at] / n[at] if n[at] else 0.0 for at in range(len(PRIORS))])
    every, named = totals.sum(axis=0), totals[YES]
    unseen = any(size[at] and not n[at] for at in range(len(PRIORS)))
    return msgspec.structs.replace(
        mode,
        precision=_share(k[YES] / n[YES], named / size[YES], int(n[YES])) if n[YES] else None,
        recall=_share(expected[YES] / expected.sum(), named / np.maximum(every, 1), len(truth))
        if expected.sum() and not unseen
        else None,
        prevalence=None
        if unseen
        else _share(expected.sum() / len(rows.keys), every / len(rows.keys), len(truth)),
    )


def _share(value: float, draws: Floats, n: int) -> ModeShare:
    low, high = np.quantile(draws, LEVEL)
    return ModeShare(
        value=float(value), low=min(float(low), float(value)), high=max(float(high), float(value)), n=n
    )


def _by_weights(mode: Mode, rows: ModeRows, truth: Mapping[Key, bool], chances: Mapping[Key, float]) -> Mode:
    """Return the counts by the chances alone, where the strata were others when the queue was drawn.

    Wilson's interval of the weighted share, with the number of labels over the design effect of the weights
    (Kish 1965).
    """

    def share(over: Iterable[Key], hit: Mapping[Key, bool]) -> ModeShare | None:
        keys = list(over)
        weights = np.array([1 / chances[key] for key in keys])
        if not keys:
            return None
        value = float(
            weights @ np.array([hit.get(key, False) for key in keys], dtype=np.float64) / weights.sum()
        )
        effective = float(weights.sum() ** 2 / (weights @ weights))
        low, high = wilson_interval(value * effective, effective)
        return ModeShare(value=value, low=low, high=high, n=len(keys))

    return msgspec.structs.replace(
        mode,
        precision=share((key for key in truth if rows.has_it.get(key)), truth),
        recall=share((key for key, is_true in truth.items() if is_true), rows.has_it),
        prevalence=share(truth, truth),
    )
