"""Judges of statements through the engine: how much a call shows follows from the model's settings."""

import json
from pathlib import Path

import pytest
from tests.support.fake_openai import FakeOpenAI
from tests.support.scripts import Body, fit_schema

from ragstone.features.judge._sheet import AnswerSheet
from ragstone.features.judge.judging import forecast_judging, judge_sheet
from ragstone.kernel.config import JudgeSection, Settings
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.records import Answer, Context, Judgement
from ragstone.kernel.tables import read_rows, write_rows

CONTEXTS = [" ".join(f"Sentence {n} of text {text}." for n in range(150)) for text in range(4)]


def supports_nothing(body: Body) -> str:
    """Return what fits the schema, with every verdict a no."""
    made = json.loads(fit_schema(body))
    for verdict in made.get("verdicts", []):
        verdict["supported"] = False
    return json.dumps(made)


@pytest.fixture
def project(tmp_path: Path, fake_openai: FakeOpenAI) -> Settings:
    fake_openai.script = supports_nothing
    row = Answer(
        question_id="q",
        question="What is it?",
        reference="It will be so.",
        answer="It is so. It was so.",
        contexts=[Context(text=text) for text in CONTEXTS],
    )
    write_rows(tmp_path / "answers.jsonl", [row], Answer)
    return Settings(judge=JudgeSection(model=fake_openai.model), root=str(tmp_path))


def judged(
    project: Settings, fake_openai: FakeOpenAI, judge: str, **model: int
) -> tuple[list[Judgement], int]:
    """Return the judgements, and how many calls they took."""
    import msgspec

    base = fake_openai.settings().models[fake_openai.model]
    changed = msgspec.structs.replace(base, **model)
    settings = msgspec.structs.replace(project, models={fake_openai.model: changed})
    before = fake_openai.n_requests
    output = project.path("judgements.jsonl")
    judge_sheet(
        AnswerSheet(project.path("answers.jsonl")), output, load_judges([judge]), settings, force=True
    )
    return list(read_rows(output, Judgement)), fake_openai.n_requests - before


def test_a_smaller_window_takes_more_calls(project, fake_openai):
    # texts of some 3,700 characters: a call takes the answer apart, one shows three texts, one the last
    [row], n_calls = judged(project, fake_openai, "faithfulness")
    assert (row.score, n_calls) == (0.0, 3)
    # 4096 - 1200 - 300 tokens of 3 bytes, less some 1,500 of prompts: one text fits a call, two do not
    [row], n_calls = judged(project, fake_openai, "faithfulness", context_tokens=4096)
    assert (row.score, n_calls) == (
        0.0,
        5 - 2,
    )  # the ledger holds the first, and that which shows one text alone
    assert row.usage is not None
    assert row.usage.calls == 5


def test_what_a_judge_finds_is_in_the_numbers_of_the_sheet(project, fake_openai):
    rows, _ = judged(project, fake_openai, "claims")
    assert [row.metric for row in rows] == ["claims", "claim_precision", "claim_recall"]
    settings = Settings(judge=project.judge, models=fake_openai.settings().models, root=project.root)
    summary = judge_sheet(
        AnswerSheet(project.path("answers.jsonl")),
        project.path("b.jsonl"),
        load_judges(["faithfulness"]),
        settings,
    )
    [found] = summary.metrics[0].unsupported
    assert (found.n, found.n_unsupported, found.n_rows) == (2, 2, 1)


@pytest.mark.parametrize(
    ("judge", "calls"),
    [("claims", 4), ("context_relevance", 2), ("context_sufficiency", 1)],
)
def test_a_forecast_counts_the_calls_that_no_reply_can_spare(project, fake_openai, judge, calls):
    settings = Settings(judge=project.judge, models=fake_openai.settings().models, root=project.root)
    assert (
        forecast_judging(AnswerSheet(project.path("answers.jsonl")), load_judges([judge]), settings).calls
        == calls
    )
    assert fake_openai.n_requests == 0
