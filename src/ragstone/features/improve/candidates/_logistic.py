"""A logistic regression whose weights keep the sign that they are given."""

from typing import NamedTuple

import numpy as np

from ragstone.kernel.statistics.intervals import Codes, Floats

STEPS = 200
TOLERANCE = 1e-9
SLIGHT = 1e-9  # penalty on the intercept: keeps the Newton step defined where all weights are held at 0


class Logistic(NamedTuple):
    """P(yes) = 1 / (1 + exp(-(intercept + features @ weights))). weights: (k,)."""

    intercept: float
    weights: Floats

    def logits(self, features: Floats) -> Floats:
        """Return the log odds of rows of features, (n, k) -> (n,)."""
        return np.asarray(self.intercept + features @ self.weights)


def sigmoid(logits: Floats) -> Floats:
    """Return the probabilities of log odds, without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(logits / 2)))


def fit_logistic(features: Floats, share: Floats, *, signs: Codes, penalty: float = 1.0) -> Logistic:
    """Return the regression that maximises the likelihood less penalty / 2 x the weights' squares.

    features: (n, k), of like spread, for the penalty treats them alike. share: (n,) of yes among people's
    answers, in [0, 1]; 0 and 1 where one was asked. signs: (k,), 1 for a weight that must not be below 0, -1
    for one not above, 0 for any. It is the one optimum, found by Newton steps projected on the signs
    (Bertsekas 1982, SIAM J. Control 20:221). Raises ValueError where all shares are 0, or all 1.
    """
    if len(share) == 0 or not 0 < share.mean() < 1:
        raise ValueError("people's answers are all yes or all no: there is nothing to tell apart")
    flip = np.where(signs < 0, -1.0, 1.0)
    design = np.column_stack([np.ones(len(share)), features * flip])
    penalties = np.concatenate([[SLIGHT], np.full(features.shape[1], penalty)])
    bounded = np.concatenate([[False], signs != 0])
    optimum = np.zeros(design.shape[1])
    value = _loss(design, share, penalties, optimum)
    for _ in range(STEPS):
        likely = sigmoid(design @ optimum)
        slope = design.T @ (likely - share) + penalties * optimum
        free = ~(bounded & (optimum <= 0) & (slope > 0))
        if np.abs(slope[free]).max(initial=0.0) <= TOLERANCE * len(share):
            break
        inner = design[:, free]
        curvature = (inner * (likely * (1 - likely))[:, None]).T @ inner + np.diag(penalties[free])
        step = np.zeros_like(optimum)
        step[free] = np.linalg.solve(curvature, slope[free])
        length = 1.0
        while length > TOLERANCE:  # the projection may overshoot: take half the step until it is better
            tried = np.where(bounded, np.maximum(optimum - length * step, 0), optimum - length * step)
            better = _loss(design, share, penalties, tried)
            if better < value:
                break
            length /= 2
        else:
            break
        optimum, value = tried, better
    return Logistic(float(optimum[0]), optimum[1:] * flip)


def _loss(design: Floats, share: Floats, penalties: Floats, weights: Floats) -> float:
    logits = design @ weights
    return float((np.logaddexp(0, logits) - share * logits).sum() + (penalties * weights**2).sum() / 2)
