"""answers -> judgements. Judges are data: see library/*.toml."""

from ragstone.judging.examples import question_digest
from ragstone.judging.finding import JudgeContext
from ragstone.judging.judge import Judge, judge_names, parse_judge
from ragstone.judging.judging import failed_judgements, judge_answer
from ragstone.judging.summary import MetricSummary, Tally, document_clusters, summarise
from ragstone.judging.together import can_join, joined, judge_together
from ragstone.judging.variant import load_judge

__all__ = [
    "Judge",
    "JudgeContext",
    "MetricSummary",
    "Tally",
    "can_join",
    "document_clusters",
    "failed_judgements",
    "joined",
    "judge_answer",
    "judge_names",
    "judge_together",
    "load_judge",
    "parse_judge",
    "question_digest",
    "summarise",
]
