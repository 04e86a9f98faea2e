"""The names of this room that others take from it; each is imported when it is first used."""

from .finding import JudgeContext
from .judge import Judge, judge_names, parse_judge
from .judging import judge_answer
from .noise import MetricComponents, NoiseTally, noise_components
from .summary import MetricSummary, Tally, question_clusters, summarise
from .tuned import question_digest
from .variant import load_judge

__all__ = [
    "Judge",
    "JudgeContext",
    "MetricComponents",
    "MetricSummary",
    "NoiseTally",
    "Tally",
    "judge_answer",
    "judge_names",
    "load_judge",
    "noise_components",
    "parse_judge",
    "question_clusters",
    "question_digest",
    "summarise",
]
