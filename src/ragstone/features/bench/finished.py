"""A finished bench of any kind as a report: read from its folder, or as it was returned."""

from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

from ragstone.features.bench.answerers.words import (
    AnswerBenchSummary,
    answer_bench_document,
    read_answer_bench,
)
from ragstone.features.bench.judges.words import (
    BENCH,
    JudgeBenchSummary,
    judge_bench_document,
    read_judge_bench,
)
from ragstone.features.bench.languages.words import STUDY, StudySummary, read_study, study_document
from ragstone.features.bench.retrievers.words import (
    LEADERBOARD,
    BenchSummary,
    bench_document,
    read_leaderboard,
)
from ragstone.features.bench.suite.words import SuiteSummary, suite_document
from ragstone.kernel.document.blocks import ReportDocument

BENCH_DOCUMENTS: dict[type, Callable[[Any], ReportDocument]] = {
    AnswerBenchSummary: answer_bench_document,
    BenchSummary: bench_document,
    JudgeBenchSummary: judge_bench_document,
    StudySummary: study_document,
    SuiteSummary: suite_document,
}
"""What a bench returns -> its report."""

READERS: dict[str, Callable[[Path], object]] = {
    "bench of retrievers": read_leaderboard,
    "bench of answerers": read_answer_bench,
    "bench of judges": read_judge_bench,
    "study of languages": read_study,
}


def kind_of_bench(names: Container[str]) -> str | None:
    """Return what kind of bench or study wrote these files last; None for none."""
    if LEADERBOARD in names:
        return "bench of retrievers"
    if BENCH in names:
        return "bench of judges" if "labels.jsonl" in names else "bench of answerers"
    return "study of languages" if STUDY in names else None


def read_bench(folder: Path, kind: str) -> ReportDocument:
    """Return the report of the bench in a folder. Raises DataError, saying what to do."""
    numbers = READERS[kind](folder)
    return BENCH_DOCUMENTS[type(numbers)](numbers)
