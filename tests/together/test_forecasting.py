"""A forecast beside what then happens: it asks nobody, and says how many calls the run makes."""

from pathlib import Path

import pytest
from tests.support.fake_openai import FakeOpenAI

from ragstone.features.answer.answering import answer_to_file, forecast_answering
from ragstone.features.judge._sheet import AnswerSheet
from ragstone.features.judge.judging import forecast_judging, judge_sheet
from ragstone.features.run.pipeline import forecast_run, run
from ragstone.kernel.config import (
    AgreeSection,
    AnswerSection,
    DocumentsSection,
    JudgeSection,
    QuestionsSection,
    Settings,
)
from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.records import Answer, Context, Document, Question
from ragstone.kernel.stages import forecasting
from ragstone.kernel.tables import write_rows


@pytest.fixture
def project(tmp_path: Path, fake_openai: FakeOpenAI) -> Settings:
    """Eight documents, questions and answers, and a model to answer and judge with."""
    numbers = range(8)
    questions = [
        Question(id=f"q{n}", question=f"Where is wheat {n}?", reference=f"Field {n}") for n in numbers
    ]
    documents = [Document(id=f"d{n}", text=f"Wheat {n} grows in field {n}.") for n in numbers]
    answers = [
        Answer(
            question_id=f"q{n}",
            question=f"Where is wheat {n}?",
            reference=f"Field {n}",
            answer=f"In field {n}.",
            contexts=[Context(text=f"Wheat {n} grows in field {n}.")],
        )
        for n in numbers
    ]
    write_rows(tmp_path / "questions.jsonl", questions, Question)
    write_rows(tmp_path / "documents.jsonl", documents, Document)
    write_rows(tmp_path / "answers.jsonl", answers, Answer)
    return Settings(
        documents=DocumentsSection(paths=["documents.jsonl"]),
        questions=QuestionsSection(path="questions.jsonl"),
        answer=AnswerSection(model=fake_openai.model),
        judge=JudgeSection(judges=["containment", "correctness", "relevance"], model=fake_openai.model),
        models=fake_openai.settings().models,
        root=str(tmp_path),
    )


def replace(settings: Settings, **changed: object) -> Settings:
    import msgspec

    return msgspec.structs.replace(settings, **changed)


def test_judging_asks_as_often_as_was_forecast(project, fake_openai):
    sheet, judges = project.path("answers.jsonl"), load_judges(["containment", "correctness", "relevance"])
    before = forecast_judging(AnswerSheet(sheet), judges, project)
    assert fake_openai.n_requests == 0
    assert (before.calls, before.from_ledger, before.duration_s) == (16, 0, None)
    judge_sheet(AnswerSheet(sheet, limit=5), project.path("first.jsonl"), judges, project)
    assert fake_openai.n_requests == 10
    rest = forecast_judging(AnswerSheet(sheet), judges, project)
    assert (rest.calls, rest.from_ledger) == (6, 10)
    assert rest.duration_s is not None
    assert rest.models[0].n_earlier == 10
    judge_sheet(AnswerSheet(sheet), project.path("all.jsonl"), judges, project)
    assert fake_openai.n_requests == 16
    after = forecast_judging(AnswerSheet(sheet), judges, project)
    assert (after.calls, after.from_ledger, after.cost_usd) == (0, 16, 0)


def test_tokens_come_near_those_that_are_used(project, fake_openai):
    sheet, judges = project.path("answers.jsonl"), load_judges(["correctness"])
    judge_sheet(AnswerSheet(sheet, limit=3), project.path("pilot.jsonl"), judges, project)
    forecast = forecast_judging(AnswerSheet(sheet), judges, project)
    used = judge_sheet(AnswerSheet(sheet), project.path("all.jsonl"), judges, project).calls.usage
    # 3 of the 8 calls were made by the pilot.
    assert forecast.input == pytest.approx(used.input * 5 / 8, rel=0.05)
    assert forecast.output == pytest.approx(used.output * 5 / 8, rel=0.3)


def test_the_second_call_of_a_judge_is_counted_though_the_first_was_not_made(project, fake_openai, says):
    sheet, judges = project.path("answers.jsonl"), load_judges(["faithfulness"])
    before = forecast_judging(AnswerSheet(sheet), judges, project)
    assert before.calls == 16
    says("\n".join(before.assumptions))
    judge_sheet(AnswerSheet(sheet), project.path("all.jsonl"), judges, project)
    assert fake_openai.n_requests == 16


def test_answering_asks_as_often_as_was_forecast(project, fake_openai):
    assert forecast_answering(project).calls == 8
    assert fake_openai.n_requests == 0
    answer_to_file(project, project.path("made.jsonl"))
    assert fake_openai.n_requests == 8
    assert (forecast_answering(project).calls, forecast_answering(project).from_ledger) == (0, 8)


def test_a_run_is_forecast_with_made_up_answers_and_says_so(project, fake_openai):
    before = forecast_run(project)
    assert fake_openai.n_requests == 0
    assert not project.path("runs").exists()
    assert before.calls == 8 + 16
    assert any("estimated" in words for words in before.assumptions)
    run(project)
    assert fake_openai.n_requests == 24
    after = forecast_run(project)
    assert (after.calls, after.from_ledger, after.assumptions) == (0, 24, [])


def test_a_run_on_a_sheet_and_a_labelled_sheet_counts_both(project):
    project.path("labelled.jsonl").write_text(
        '{"question_id": "x", "question": "?", "reference": "r", "answer": "a", "score": 1}\n'
    )
    sheets = replace(
        project,
        answer=AnswerSection(sheet="answers.jsonl"),
        agree=AgreeSection(sheet="labelled.jsonl", metric="correctness"),
    )
    assert forecast_run(sheets).calls == 16 + 1


def test_large_files_are_sampled_and_scaled_up(project, monkeypatch, says):
    monkeypatch.setattr(forecasting, "SAMPLE", 3)
    forecast = forecast_judging(
        AnswerSheet(project.path("answers.jsonl")), load_judges(["correctness"]), project
    )
    assert forecast.calls == 8  # three rows were looked at, each for 8 / 3
    says("\n".join(forecast.assumptions))


def test_baselines_ask_nobody_and_open_no_ledger(project):
    forecast = forecast_judging(
        AnswerSheet(project.path("answers.jsonl")), load_judges(["containment"]), project
    )
    assert (forecast.calls, forecast.models) == (0, [])
    assert not project.path(".ragstone").exists()


def test_a_recorded_model_makes_no_calls_to_forecast(project):
    recorded = replace(project, judge=JudgeSection(judges=["correctness"], model="recorded/openai/fake"))
    forecast = forecast_judging(
        AnswerSheet(project.path("answers.jsonl")), load_judges(["correctness"]), recorded
    )
    assert forecast.calls == 0


def test_wrong_settings_are_told_as_by_the_run_itself(project, says):
    nobody = replace(project, judge=JudgeSection())
    with pytest.raises(ModelError) as error:
        forecast_judging(AnswerSheet(project.path("answers.jsonl")), load_judges(["correctness"]), nobody)
    says(error.value)
    with pytest.raises(ConfigError) as error:
        forecast_run(replace(project, documents=DocumentsSection()))
    says(error.value)


def test_judges_by_one_token_are_forecast(project, fake_openai):
    # Nobody has given probabilities yet: that says nothing against the endpoint.
    sheet = project.path("answers.jsonl")
    assert (
        forecast_judging(AnswerSheet(sheet), load_judges(["same_answer", "relevance@token"]), project).calls
        == 16
    )
    assert fake_openai.n_requests == 0
