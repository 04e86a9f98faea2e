import json

import pytest
from tests.support.scripts import fit_schema

from ragstone.features.demo import _small_judge as small_judge
from ragstone.features.demo._small_judge import few_labelled, show_small_judge
from ragstone.features.new.starter import WITHOUT_MODEL, copy_starter, starter_settings
from ragstone.kernel.config import load_settings


@pytest.fixture
def settings(tmp_path, fake_openai):
    copy_starter(tmp_path, None)
    with (tmp_path / "ragstone.toml").open("a") as file:
        file.write(f"\n{fake_openai.toml()}")
    return load_settings(tmp_path / "ragstone.toml")


def test_the_few_are_as_often_right_as_wrong_and_in_turn(settings):
    answers, labels = few_labelled(settings)
    assert [label.score for label in labels] == [0, 1] * 5
    assert [row.question_id for row in answers] == [label.question_id for label in labels]
    assert {label.metric for label in labels} == {"correctness"}


def test_a_judge_that_calls_everything_wrong_is_said_to_be_unfit(
    settings, fake_openai, monkeypatch, capsys, says
):
    monkeypatch.setattr(small_judge, "PACKAGED", "openai/fake")
    fake_openai.script = lambda body: json.dumps(json.loads(fit_schema(body)) | {"score": 0})
    show_small_judge(settings, whole=True)
    told = capsys.readouterr()
    says(told.err)
    says(told.out)
    assert fake_openai.n_requests == 10


def test_without_the_model_the_demo_says_why_and_ends_well(settings, monkeypatch, capsys, says):
    monkeypatch.setattr(small_judge, "PACKAGED", "openai/nobody")
    show_small_judge(settings, whole=True)
    says(capsys.readouterr().err)


def test_the_starter_without_a_model_differs_in_each_line_that_is_meant(settings):
    with_one = starter_settings("openai/x")
    assert all(starter_settings("MODEL").count(line) == 1 for line in WITHOUT_MODEL)
    assert 'model = "openai/x"' in with_one
    assert (settings.run.model, settings.answer.system, settings.answer.limit) == (None, "extractive", None)
    assert settings.judge.judges == ["right", "grounding", "no_refusal"]
