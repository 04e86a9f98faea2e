"""Rows with plain values in the fields that a test does not name."""

from functools import partial

from ragstone.kernel.judging import MetricSummary
from ragstone.kernel.records import Judgement

OF_JUDGE = {"system": "s", "judge": "correctness", "metric": "correctness", "model": "m", "prompt_version": 1}

judgement_row = partial(Judgement, question_id="q", status="scored", **OF_JUDGE)  # type: ignore[arg-type]
summary_row = partial(MetricSummary, scale=(0, 1), estimate=None, n_rows=0, statuses={}, **OF_JUDGE)  # type: ignore[arg-type]
