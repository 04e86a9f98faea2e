"""Where stages run, and the functions that `import ragstone` offers."""

from ragstone.engine.answer_bench import answer_bench_folder, bench_answerers
from ragstone.engine.answer_bench_forecast import forecast_answer_bench
from ragstone.engine.api import answer, judge, retrieve
from ragstone.engine.attacking import attack
from ragstone.engine.bench import bench_folder, bench_retrievers
from ragstone.engine.bench_forecast import forecast_bench, forecast_study
from ragstone.engine.build_rows import read_sources
from ragstone.engine.build_session import build_in_session, check_build
from ragstone.engine.building import build_rows
from ragstone.engine.chunking import cut_documents
from ragstone.engine.evaluation_set import EvaluationSet
from ragstone.engine.fact_rows import build_fact_rows
from ragstone.engine.facts import (
    build_facts,
    forecast_facts,
    with_changes,
)
from ragstone.engine.forecasting import forecast_answering, forecast_judging, forecast_run
from ragstone.engine.judge_bench import bench_judges, judge_bench_folder
from ragstone.engine.judge_bench_forecast import forecast_judge_bench
from ragstone.engine.local import map_in_order, run_sync
from ragstone.engine.pipeline import run, run_folder
from ragstone.engine.progress import Advance, Progress, State, silent
from ragstone.engine.questions import (
    build_questions,
    forecast_questions,
)
from ragstone.engine.sampling import Sample, SampleSummary, sample_log
from ragstone.engine.session import Session, open_session
from ragstone.engine.sheet import AnswerSummary, answer_to_file, judge_sheet
from ragstone.engine.stages import (
    answer_rows,
    judge_rows,
    load_corpus,
    load_judges,
    rank_questions,
)
from ragstone.engine.study import bench_languages, study_folder
from ragstone.engine.tagging import (
    Tagging,
    TaggingSummary,
    forecast_tagging,
    read_taggable,
    tag,
    tag_in_session,
)
from ragstone.engine.translating import (
    Translated,
    Translating,
    TranslatingSummary,
    Translation,
    TranslationCounts,
    forecast_translating,
    read_translatable,
    translate,
    translate_in_session,
)

__all__ = [
    "Advance",
    "AnswerSummary",
    "EvaluationSet",
    "Progress",
    "Sample",
    "SampleSummary",
    "Session",
    "State",
    "Tagging",
    "TaggingSummary",
    "Translated",
    "Translating",
    "TranslatingSummary",
    "Translation",
    "TranslationCounts",
    "answer",
    "answer_bench_folder",
    "answer_rows",
    "answer_to_file",
    "attack",
    "bench_answerers",
    "bench_folder",
    "bench_judges",
    "bench_languages",
    "bench_retrievers",
    "build_fact_rows",
    "build_facts",
    "build_in_session",
    "build_questions",
    "build_rows",
    "check_build",
    "cut_documents",
    "forecast_answer_bench",
    "forecast_answering",
    "forecast_bench",
    "forecast_facts",
    "forecast_judge_bench",
    "forecast_judging",
    "forecast_questions",
    "forecast_run",
    "forecast_study",
    "forecast_tagging",
    "forecast_translating",
    "judge",
    "judge_bench_folder",
    "judge_rows",
    "judge_sheet",
    "load_corpus",
    "load_judges",
    "map_in_order",
    "open_session",
    "rank_questions",
    "read_sources",
    "read_taggable",
    "read_translatable",
    "retrieve",
    "run",
    "run_folder",
    "run_sync",
    "sample_log",
    "silent",
    "study_folder",
    "tag",
    "tag_in_session",
    "translate",
    "translate_in_session",
    "with_changes",
]
