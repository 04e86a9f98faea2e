"""Right and wrong answers -> signs that mark the wrong ones apart, each confirmed on answers that it was not
chosen by.

The answers are cut into two halves by their clusters. Signs are chosen on one half and tested on the other,
both ways; the tests are one-sided and exact (Fisher 1935), and Holm's correction is over all of them. So a
run whose failures have nothing to do with the answers names a mode in at most 5 % of cases.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec
import numpy as np

from ragstone.kernel.judging.signs import PROPERTIES, Sign, beginning, words_of
from ragstone.kernel.records import Answer
from ragstone.kernel.statistics import Codes, Floats, cluster_codes, holm

MOST_READ = 10_000  # answers that signs are looked for in; of more, a random sample
MOST_CHOSEN = 12  # signs that one half proposes
MOST_MODES = 8
LEAST_WORDS = 50  # that words count as, where there are fewer: what is measured says more
FEWEST = 3  # wrong answers that carry a sign, in the half that it is chosen by
FEWEST_ROWS = 2 * FEWEST - 2  # that carry it, in both halves
LEAST_RATE, LEAST_LIFT = 0.3, 1.5  # of wrong answers among those with a sign; against that of all
ALPHA = 0.05
MOST_SHARE = 0.4  # of the answers that carry a word: a more frequent one says little
SHARES = (0.02, 0.04, 0.07, 0.1, 0.15, 0.25)  # of the answers beyond the limit of a number
SAME = 0.75  # of the wrong answers of a sign that others have too: then it is no mode of its own
SHARED = 0.1  # of the answers of a sign that have another mode: it is then one of those that have not
MOST_WEIGHT, LEAST_WEIGHT = 0.99, 0.5

K = TypeVar("K", str, tuple[str, str])
Rows = np.ndarray[tuple[int], np.dtype[np.bool_]]


class NamedSigns(msgspec.Struct, frozen=True, kw_only=True):
    """A sign that was confirmed. p: corrected; n, n_wrong: answers that carry it, and the wrong ones.

    unless: signs of other modes that many of these answers carry too, which then count as those modes'.
    """

    sign: Sign
    unless: list[Sign]
    p: float
    n: int
    n_wrong: int


class ModeProposal(msgspec.Struct, frozen=True, kw_only=True):
    """What was found. n_candidates: signs that were looked at; n_tested: those that were chosen and tested.

    n_read: answers that they were looked for in.
    """

    signs: list[NamedSigns]
    n_candidates: int
    n_tested: int
    n_read: int


class _Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """Signs with the rows that carry each. rows: all of them after each other; starts: of each sign.

    price: what a sign's likelihood ratio must exceed, for it is one of many of its family. plain: whether it
    is yes or no: such a sign comes before those with a limit and words, which may hold several modes at once.
    """

    signs: list[Sign]
    rows: Codes
    starts: Codes
    price: Floats
    plain: Rows

    def sums(self, values: Floats) -> Floats:
        """Return for each sign the sum of the values of the rows that carry it."""
        return np.add.reduceat(values[self.rows], self.starts)

    def carried(self, at: int, n: int) -> Rows:
        """Return which of n rows carry a sign."""
        end = self.starts[at + 1] if at + 1 < len(self.starts) else len(self.rows)
        mask = np.zeros(n, dtype=np.bool_)
        mask[self.rows[self.starts[at] : end]] = True
        return mask


def propose_signs(
    answers: Sequence[Answer],
    wrong: Sequence[bool],
    clusters: Sequence[str],
    *,
    seed: int = 0,
    alpha: float = ALPHA,
) -> ModeProposal:
    """Return the signs that mark wrong answers apart, the most certain first, at most eight.

    clusters: what answers share that are not independent: a question, or its document. alpha: the share of
    cases in which any is named where failures have nothing to do with the answers.
    """
    rng = np.random.default_rng(seed)
    at = [*range(len(answers))]
    if len(at) > MOST_READ:
        at = sorted(rng.choice(len(at), MOST_READ, replace=False).tolist())
    rows, is_wrong = [answers[n] for n in at], np.array([wrong[n] for n in at], dtype=np.bool_)
    codes = cluster_codes([clusters[n] for n in at], len(at))
    candidates = _candidates(rows)
    if not candidates.signs or not is_wrong.any():
        return ModeProposal(signs=[], n_candidates=len(candidates.signs), n_tested=0, n_read=len(rows))
    halves = _halves(codes, is_wrong, rng)
    tested = [
        (chosen, p)
        for half in (False, True)
        for chosen, p in _tested(candidates, is_wrong, codes, halves == half)
    ]
    corrected = holm(np.array([p for _, p in tested])) if tested else np.zeros(0)
    plain = [bool(candidates.plain[sign]) for sign, _ in tested]
    # What is yes or no comes first, in its order, then the others by their p-values.
    order = sorted(
        range(len(tested)),
        key=lambda at: (False, tested[at][0]) if plain[at] else (True, float(corrected[at])),
    )
    signs: list[NamedSigns] = []
    held = np.zeros((0, len(rows)), dtype=np.bool_)
    for number in order:
        if corrected[number] > alpha or len(signs) == MOST_MODES:
            continue
        carried = candidates.carried(tested[number][0], len(rows))
        both = carried & is_wrong
        new = both & ~held.any(axis=0)
        if new.sum() < FEWEST or new.sum() < (1 - SAME) * both.sum():
            continue
        shared = (held & carried).sum(axis=1) >= SHARED * carried.sum()
        unless = [other.sign for other, is_shared in zip(signs, shared, strict=True) if is_shared]
        own = carried & ~held[shared].any(axis=0)
        n, n_wrong = int(own.sum()), int((own & is_wrong).sum())
        weight = round(min(MOST_WEIGHT, max(LEAST_WEIGHT, n_wrong / n)), 2)
        sign = msgspec.structs.replace(candidates.signs[tested[number][0]], weight=weight)
        signs.append(NamedSigns(sign=sign, unless=unless, p=float(corrected[number]), n=n, n_wrong=n_wrong))
        held = np.vstack([held, carried])
    return ModeProposal(
        signs=signs, n_candidates=len(candidates.signs), n_tested=len(tested), n_read=len(rows)
    )


def _halves(codes: Codes, wrong: Rows, rng: np.random.Generator) -> Rows:
    """Return the half of each row: whole clusters, those with wrong answers shared out evenly."""
    n = int(codes.max()) + 1
    n_wrong = np.bincount(codes, weights=wrong, minlength=n)
    order = np.lexsort((rng.random(n), -n_wrong))
    half = np.zeros(n, dtype=np.bool_)
    flips = rng.random((n + 1) // 2) < 0.5  # of each pair of clusters alike, one to either side
    half[order[0::2]] = flips[: len(order[0::2])]
    half[order[1::2]] = ~flips[: len(order[1::2])]
    return np.asarray(half[codes])


def _tested(candidates: _Candidates, wrong: Rows, codes: Codes, inside: Rows) -> list[tuple[int, float]]:
    """Return the signs that one half chooses, in its order, each with its p-value in the other half.

    A sign is tested on the rows that no sign before it carries, against those that no chosen sign carries at
    all: which rows these are is settled by the first half alone, and they hold fewer wrong ones of others.
    """
    chosen: list[tuple[int, Rows]] = []
    free = np.ones(len(wrong), dtype=np.bool_)
    while len(chosen) < MOST_CHOSEN:
        at = _best(candidates, wrong, inside & free)
        if at is None:
            break
        own = candidates.carried(at, len(wrong)) & free
        chosen.append((at, own))
        free &= ~own
    masks = [~inside & (own | free) for _, own in chosen]
    return [
        (at, confirming_p(own[mask], wrong[mask], codes[mask]))
        for (at, own), mask in zip(chosen, masks, strict=True)
    ]


def _best(candidates: _Candidates, wrong: Rows, mask: Rows) -> int | None:
    """Return the sign with the largest likelihood ratio above its price; None where none is above it."""
    total, lost = float(mask.sum()), float((mask & wrong).sum())
    if not lost or lost == total:
        return None
    n, k = candidates.sums(mask.astype(np.float64)), candidates.sums((mask & wrong).astype(np.float64))
    rate = lost / total
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = 2 * (
            _entropy(k, n) + _entropy(lost - k, total - n) - _entropy(np.array(lost), np.array(total))
        )
        enough = (k >= FEWEST) & (k / n >= max(LEAST_RATE, LEAST_LIFT * rate))
    value = np.where(enough, ratio - candidates.price, -np.inf)
    plain = np.flatnonzero(candidates.plain & (value > 0))  # the most telling ones come first
    at = int(plain[0]) if len(plain) else int(np.argmax(value))
    return at if value[at] > 0 else None


def _entropy(k: Floats, n: Floats) -> Floats:
    """Return the log-likelihood of k of n at their own rate."""
    rate = np.where(n > 0, k / np.maximum(n, 1), 0.0)
    first = np.where(k > 0, k * np.log(np.maximum(rate, 1e-300)), 0.0)
    second = np.where(n > k, (n - k) * np.log(np.maximum(1 - rate, 1e-300)), 0.0)
    return np.asarray(first + second)


def confirming_p(x: Rows, y: Rows, codes: Codes) -> float:
    """Return the one-sided p-value that wrong answers (y) carry a sign (x) no more often than others.

    Fisher's exact test; where rows share clusters, no less than that of the sum over clusters (robust score
    test), which knows that they are not independent.
    """
    exact = fisher_p(int((x & y).sum()), int(x.sum()), int(y.sum()), len(x))
    _, groups = np.unique(codes, return_inverse=True)
    if not len(x) or groups.max() + 1 == len(x):
        return exact
    parts = (x - x.mean()) * (y - y.mean())
    sums = np.bincount(groups, weights=parts)
    spread = math.sqrt(float(sums @ sums))
    return max(exact, 0.5 * math.erfc(float(parts.sum()) / spread / math.sqrt(2))) if spread else 1.0


def fisher_p(k: int, n: int, n_wrong: int, total: int) -> float:
    """Return the chance that k or more of n rows are wrong, n_wrong of all being so (hypergeometric)."""
    if k <= max(0, n + n_wrong - total):
        return 1.0

    def log_choose(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    whole = log_choose(total, n)
    logs = [
        log_choose(n_wrong, i) + log_choose(total - n_wrong, n - i) - whole
        for i in range(k, min(n, n_wrong) + 1)
    ]
    return min(1.0, sum(map(math.exp, logs)))


def _candidates(rows: Sequence[Answer]) -> _Candidates:
    """Return all signs that three rows or more carry, and not most; no verdict decides which they are."""
    families = [
        _properties(rows),
        _words(rows, "question"),
        _words(rows, "answer"),
        _beginnings(rows),
        _tags(rows),
    ]
    signs: list[Sign] = []
    carried: list[Codes] = []
    price: list[float] = []
    for family in families:
        usable = {key: at for key, (_, at) in family.items() if len(at) >= FEWEST_ROWS}
        signs += [family[key][0] for key in usable]
        carried += usable.values()
        is_measured = family is families[0]
        price += [2 * math.log(max(1 if is_measured else LEAST_WORDS, len(usable)))] * len(usable)
    starts = np.cumsum([0, *map(len, carried)])[:-1] if carried else np.zeros(0, dtype=np.intp)
    return _Candidates(
        signs=signs,
        rows=np.concatenate(carried) if carried else np.zeros(0, dtype=np.intp),
        starts=starts.astype(np.intp),
        price=np.array(price),
        plain=np.array(
            [sign.measure is not None and sign.at_least is None and sign.at_most is None for sign in signs],
            dtype=np.bool_,
        ),
    )


_Family = dict[object, tuple[Sign, Codes]]


def _properties(rows: Sequence[Answer]) -> _Family:
    """Return what is measured: yes or no, and numbers beyond limits that a small share of the rows is."""
    family: _Family = {}
    # One row after the other: the words of its texts are then cut once for all that is measured of it.
    table = [[measured.of(row) for measured in PROPERTIES.values()] for row in rows]
    columns = np.array(table, dtype=np.float64).reshape(-1, len(PROPERTIES)).T  # None becomes NaN
    for (name, measured), values in zip(PROPERTIES.items(), columns, strict=True):
        known = values[~np.isnan(values)]
        if not known.size:
            continue
        if not measured.is_number:
            _add(family, Sign(weight=1, measure=name), np.flatnonzero(values >= 1), len(rows), 1.0)
            continue
        for share in SHARES:
            high, low = (float(np.quantile(known, q, method="nearest")) for q in (1 - share, share))
            high, low = _rounded(high, math.floor), _rounded(low, math.ceil)
            if high > known.min():
                sign = Sign(weight=1, measure=name, at_least=high)
                _add(family, sign, np.flatnonzero(values >= high), len(rows), MOST_SHARE)
            if measured.low is not None and low < known.max():
                sign = Sign(weight=1, measure=name, at_most=low)
                _add(family, sign, np.flatnonzero(values <= low), len(rows), MOST_SHARE)
    return family


def _rounded(limit: float, to: Callable[[float], int]) -> float:
    """Return a limit as people write it: a share in percent, a count whole; never to the wrong side."""
    return to(round(limit * 100, 6)) / 100 if limit < 1 else float(to(limit))


def _add(family: _Family, sign: Sign, at: Codes, n: int, most: float) -> None:
    """Add a sign, unless most rows carry it, or the same rows carry another one of the family."""
    if 0 < len(at) <= most * n:
        family.setdefault(at.tobytes(), (sign, at))


def _words(rows: Sequence[Answer], of: str) -> _Family:
    texts = [row.answer if of == "answer" else row.question or "" for row in rows]

    def sign_of(word: str) -> Sign:
        return Sign(weight=1, words=[word], of="answer" if of == "answer" else "question")

    return _by_key([list(words_of(text)) for text in texts], sign_of)


def _beginnings(rows: Sequence[Answer]) -> _Family:
    keys = [
        list(dict.fromkeys(filter(None, (beginning(row.question or "", n) for n in (1, 2))))) for row in rows
    ]
    return _by_key(keys, lambda words: Sign(weight=1, begins=words))


def _tags(rows: Sequence[Answer]) -> _Family:
    keys = [[*(row.tags or {}).items()] for row in rows]
    return _by_key(keys, lambda pair: Sign(weight=1, tag=pair[0], value=pair[1]))


def _by_key(keys: Sequence[Sequence[K]], sign_of: Callable[[K], Sign]) -> _Family:
    places: dict[K, list[int]] = defaultdict(list)
    for at, some in enumerate(keys):
        for key in some:
            places[key].append(at)
    family: _Family = {}
    most = MOST_SHARE * len(keys)
    for key in sorted(key for key, at in places.items() if FEWEST_ROWS <= len(at) <= most):
        _add(family, sign_of(key), np.array(places[key], dtype=np.intp), len(keys), MOST_SHARE)
    return family
