"""What is known of a day: the sums from which every mean and interval of the monitor is computed."""

from datetime import date

import msgspec


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """The judged exchanges of one day, one value of one tag and one metric, as sums.

    tag, value: both "" for all exchanges. judge: name, version and model of who judged. n: scored exchanges;
    each stands for 1 / (its chance to be sampled) exchanges, its weight w, and has a score x from 0 to 1: w,
    wx: sums of w and w·x; w2, w2x, w2x2: sums of w², w²·x and w²·x². statuses: how many had another status.

    The mean is wx / w; its variance is (w2x2 - 2·mean·w2x + mean²·w2) / w² (Särndal et al. 1992, ch. 5: the
    linearised variance of a ratio).
    """

    day: date
    tag: str
    value: str
    metric: str
    judge: str
    n: int
    w: float
    wx: float
    w2: float
    w2x: float
    w2x2: float
    statuses: dict[str, int] = {}
