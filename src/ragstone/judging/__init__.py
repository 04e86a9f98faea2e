"""answers -> judgements. Judges are data: see library/*.toml."""

from ragstone.judging.finding import Means
from ragstone.judging.judge import Judge, judge_names, load_judge, parse_judge
from ragstone.judging.judging import failed_judgement, judge_answer
from ragstone.judging.summary import MetricSummary, Tally, summarise

__all__ = [
    "Judge",
    "Means",
    "MetricSummary",
    "Tally",
    "failed_judgement",
    "judge_answer",
    "judge_names",
    "load_judge",
    "parse_judge",
    "summarise",
]
