"""What `ragstone judges fit --json` prints."""

from typing import Any

import msgspec

from ragstone.features.improve._thresholds import FitFigures
from ragstone.kernel.records import Usage


class FitOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A cascade that was fitted, see CascadeFit; judge: with every key that a judge's file may have."""

    judge: dict[str, Any]
    agreement: float
    in_sample: FitFigures
    cross_validated: FitFigures | None
    n_folds_out: int
    tested: FitFigures | None
    n_left_out: int
    spent: Usage
    spent_usd: float | None
    dear_alone: Usage
    dear_alone_usd: float | None
