"""The report of a finished bench of any kind, read from its folder."""

from collections.abc import Callable, Container
from pathlib import Path

from ragstone.features.bench.answerers.words import answer_bench_document, read_answer_bench
from ragstone.features.bench.judges.words import BENCH, judge_bench_document, read_judge_bench
from ragstone.features.bench.languages.words import STUDY, read_study, study_document
from ragstone.features.bench.retrievers.words import LEADERBOARD, bench_document, read_leaderboard
from ragstone.kernel.document.blocks import ReportDocument

REPORTS: dict[str, Callable[[Path], ReportDocument]] = {
    "bench of retrievers": lambda folder: bench_document(read_leaderboard(folder)),
    "bench of answerers": lambda folder: answer_bench_document(read_answer_bench(folder)),
    "bench of judges": lambda folder: judge_bench_document(read_judge_bench(folder)),
    "study of languages": lambda folder: study_document(read_study(folder)),
}


def kind_of_bench(names: Container[str]) -> str | None:
    """Return what kind of bench or study wrote these files last; None for none."""
    if LEADERBOARD in names:
        return "bench of retrievers"
    if BENCH in names:
        return "bench of judges" if "labels.jsonl" in names else "bench of answerers"
    return "study of languages" if STUDY in names else None


def finished_bench(folder: Path, kind: str) -> ReportDocument:
    """Return the report of the bench in a folder. Raises DataError, saying what to do."""
    return REPORTS[kind](folder)
