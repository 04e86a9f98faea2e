"""The names of this room that others take from it; each is imported when it is first used."""

from .finding import JudgeContext
from .judge import Judge, judge_names, parse_judge
from .judging import failed_judgements, judge_answer
from .noise import MetricComponents, NoiseTally, noise_components
from .summary import MetricSummary, Tally, question_clusters, summarise
from .together import can_join, joined, judge_together
from .tuned import question_digest
from .variant import load_judge

__all__ = [
    "Judge",
    "JudgeContext",
    "MetricComponents",
    "MetricSummary",
    "NoiseTally",
    "Tally",
    "can_join",
    "failed_judgements",
    "joined",
    "judge_answer",
    "judge_names",
    "judge_together",
    "load_judge",
    "noise_components",
    "parse_judge",
    "question_clusters",
    "question_digest",
    "summarise",
]
