"""ROC AUC: how often does a judge score a right answer above a wrong one?"""

import math
from collections.abc import Sequence

import numpy as np

from ragstone.kernel.statistics.bootstrap import Statistic
from ragstone.kernel.statistics.correlation import kinds_of_pairs, levels, one_hot, share_above, share_below
from ragstone.kernel.statistics.intervals import Codes, Floats, is_yes_no, row_sums


def roc_auc(labels: Sequence[float] | Floats, scores: Sequence[float] | Floats) -> float | None:
    """Return the share of pairs, one item of label 1 and one of 0, where the 1 has the higher score.

    labels: 0 and 1. Equal scores count half, so 0.5 is what scores that know nothing reach. Needs no
    threshold. None unless there are labels of both kinds (Hanley and McNeil 1982; Mann and Whitney 1947).
    """
    if not len(labels):
        return None
    columns, statistic = auc_columns(np.asarray(labels, np.float64), np.asarray(scores, np.float64))
    auc = float(statistic(columns.sum(axis=0)[None, :])[0])
    return None if math.isnan(auc) else auc


def auc_columns(labels: Floats, scores: Floats) -> tuple[Floats, Statistic]:
    """Return columns (items, k) and the AUC as a function of their totals, for the bootstrap.

    Up to 256 distinct pairs of label and score, each resample is ranked anew; beyond, see pairs.py.
    """
    if len(labels) != len(scores):
        raise ValueError(f"{len(labels)} labels against {len(scores)} scores: pair them first")
    if not is_yes_no(labels):
        raise ValueError("a label is neither 0 nor 1: an AUC needs labels of 0 and 1")
    _, codes = levels(scores)
    kinds = kinds_of_pairs(labels.astype(np.intp), codes)
    if kinds:
        label, level, kind_of_item = kinds
        return one_hot(kind_of_item, len(label)), auc_of_cells(label, level)
    yes, no = labels, 1.0 - labels
    # One item is moved: as a 1 it stands above some 0, as a 0 below some 1.
    effect = yes * share_below(codes, no) + no * share_above(codes, yes)
    above = float(yes @ share_below(codes, no)) / len(labels)
    return np.stack([np.ones_like(yes), effect - above, yes], axis=1), _of_moments


def auc_of_cells(labels: Codes, scores: Codes) -> Statistic:
    """Return the AUC as a function of how often each cell occurs, (m, cells) -> (m,); NaN without a 0 or 1.

    labels: 0 or 1 of each cell; scores: the level of its score, from 0.
    """
    yes, no = labels == 1, labels == 0
    higher = np.heaviside((scores[yes][:, None] - scores[no][None, :]).astype(np.float64), 0.5)

    def statistic(counts: Floats) -> Floats:
        ones, zeros = counts[:, yes], counts[:, no]
        pairs = row_sums(ones) * row_sums(zeros)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(pairs > 0, row_sums((ones @ higher) * zeros) / pairs, np.nan)

    return statistic


def _of_moments(totals: Floats) -> Floats:
    """Return the AUC from (m, 3): weight, pairs in the right order, items of label 1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        above, yes = (totals[:, at] / totals[:, 0] for at in (1, 2))
        pairs = yes * (1 - yes)
        return np.where(pairs > 1e-12, np.clip(above / pairs, 0.0, 1.0), np.nan)
