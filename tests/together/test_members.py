"""Juries and cascades through the commands: forecast, summarised, and compared pair by pair."""

import msgspec
import pytest
from tests.kernel.stages.test_members import ANSWERS, STEPS

from ragstone.features.judge._sheet import AnswerSheet
from ragstone.features.judge.judging import forecast_judging, judge_sheet
from ragstone.kernel.config import ModelSettings, choose
from ragstone.kernel.judging import combined, load_judge
from ragstone.kernel.records import Answer, Usage
from ragstone.kernel.tables import write_rows


@pytest.fixture
def settings(fake_openai, tmp_path):
    """Settings with two models at one server; no model in [judge]."""
    given = fake_openai.settings(root=tmp_path)
    of_models = {
        f"openai/{name}": ModelSettings(base_url=fake_openai.base_url) for name in ("small", "big", "default")
    }
    return msgspec.structs.replace(given, models=of_models)


def test_a_forecast_counts_a_cascade_as_if_models_handed_everything_on(fake_openai, settings, tmp_path):
    write_rows(tmp_path / "answers.jsonl", ANSWERS, Answer)
    forecast = forecast_judging(AnswerSheet(tmp_path / "answers.jsonl"), [STEPS], settings)
    assert [(model.model.split("@")[0], model.calls) for model in forecast.models] == [
        ("openai/big", 1),
        ("openai/small", 1),
    ]
    assert combined.ASSUMPTION in forecast.assumptions
    assert fake_openai.n_requests == 0


def test_the_summary_of_a_sheet_says_what_a_cascade_saved(settings, tmp_path):
    write_rows(tmp_path / "answers.jsonl", ANSWERS, Answer)
    summary = judge_sheet(
        AnswerSheet(tmp_path / "answers.jsonl"), tmp_path / "judgements.jsonl", [STEPS], settings
    )
    [saved] = summary.cascades
    assert [(work.n_asked, work.n_decided) for work in saved.members] == [(4, 3), (1, 0), (1, 1)]
    assert saved.last_alone.calls == 4 * saved.members[-1].usage.calls == 4 * Usage().calls


def test_systems_are_compared_pair_by_pair_and_lone_questions_are_noted(settings, tmp_path, says):
    rivals = [msgspec.structs.replace(row, system="rival", answer="Who knows?") for row in ANSWERS[1:]]
    write_rows(tmp_path / "both.jsonl", [*ANSWERS, *rivals], Answer)
    chosen = choose(settings, "judge", model="openai/small")
    judges = [load_judge("pairwise")]
    summary = judge_sheet(
        AnswerSheet(tmp_path / "both.jsonl"), tmp_path / "preferences.jsonl", judges, chosen
    )
    assert [(metric.system, metric.n_rows) for metric in summary.metrics] == [("default vs rival", 3)]
    says("\n".join(summary.notes))
