"""Systems under test through the commands: refused early, forecast, and answered into a file."""

import msgspec
import pytest
from tests.kernel.stages.test_systems import QUESTIONS, settings_of
from tests.support.fake_retriever import serving

import ragstone
from ragstone.features.answer.answering import answer_to_file, forecast_answering
from ragstone.features.run.pipeline import forecast_run
from ragstone.kernel.config import (
    AnswerSection,
    HttpSystem,
    JudgeSection,
    Price,
    QuestionsSection,
)
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Question
from ragstone.kernel.systems.applications import ASSUMPTION
from ragstone.kernel.tables import write_rows


@pytest.fixture
def fake():
    with serving() as server:
        server.script = lambda asked: {"answer": f"It is {asked.body['question'][8:-1]}.", "from": ["a text"]}
        yield server


@pytest.fixture
def root(tmp_path):
    write_rows(tmp_path / "questions.jsonl", QUESTIONS, Question)
    return tmp_path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"questions": QuestionsSection()}, r"\[questions\] path is missing"),
        ({"answer": AnswerSection(system="mine", sheet="a.jsonl")}, "Keep one of them"),
        ({"answer": AnswerSection(system="yours")}, "unknown system 'yours'"),
    ],
)
def test_settings_that_do_not_fit_are_told_before_anything_is_asked(fake, root, change, message):
    settings = msgspec.structs.replace(settings_of(root, mine=HttpSystem(url=fake.url)), **change)
    for work in (ragstone.run, forecast_run):
        with pytest.raises(ConfigError, match=message):
            work(settings)
    assert fake.asked == []


def test_a_forecast_counts_the_calls_and_asks_nobody(fake, fake_openai, root):
    settings = settings_of(root, mine=HttpSystem(url=fake.url, contexts="$.from"))
    settings = msgspec.structs.replace(
        settings,
        judge=JudgeSection(judges=["faithfulness", "correctness"], model="openai/fake"),
        models=fake_openai.settings().models,
    )
    forecast = forecast_run(settings)
    calls = {model.model: model.calls for model in forecast.models}
    assert calls["system mine"] == 4
    assert calls["openai/fake"] == 12  # faithfulness two a row, correctness one
    assert forecast.cost_usd is None
    assert ASSUMPTION in forecast.assumptions
    assert fake.asked == []
    priced = HttpSystem(url=fake.url, price_usd_per_million=Price(input=0, output=0))
    assert forecast_answering(settings_of(root, mine=priced)).cost_usd == 0
    answer_to_file(settings, root / "answers.jsonl")
    forecast = forecast_answering(settings)
    assert (forecast.calls, forecast.from_ledger) == (0, 4)


def test_a_file_of_answers_is_made_by_the_system_and_its_summary_says_what_was_kept(fake, root, says):
    settings = settings_of(root, mine=HttpSystem(url=fake.url))
    first = answer_to_file(settings, root / "a.jsonl")
    assert (first.n_answers, first.n_failed, first.notes) == (4, 0, [])
    second = answer_to_file(settings, root / "b.jsonl")
    assert (root / "a.jsonl").read_bytes() == (root / "b.jsonl").read_bytes()
    says(second.notes[0])
