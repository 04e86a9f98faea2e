"""What a run says of the noise in its intervals, and when it says nothing."""

import msgspec
import pytest
from tests.kernel.judging.test_noise import MODELS, rows
from tests.support.plain_rows import judgement_row
from tests.support.surfaces import shown

from ragstone.kernel.document.blocks import ReportDocument
from ragstone.kernel.judging import summarise
from ragstone.kernel.judging.noise import noise_components
from ragstone.kernel.records import NO_MODEL, Judgement
from ragstone.kernel.runs.noise import held_noise, noise_blocks, noise_sentence
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.stages.notes import judgements_alone


def summary_of(judgements: list[Judgement], **models: str) -> RunSummary:
    summary = judgements_alone("j.jsonl", list(summarise(judgements)), [])
    components = list(noise_components(judgements)) or msgspec.UNSET
    return msgspec.structs.replace(summary, models=models, components=components)


def text(judgements: list[Judgement]) -> str:
    blocks = noise_blocks(summary_of(judgements))
    return shown(ReportDocument(title="", kind="", about="", version="", blocks=blocks), 100)


def sampled(judgements: list[Judgement]) -> list[Judgement]:
    """Return the judgements as if the judge had been asked twice, each time with another verdict."""
    return [
        msgspec.structs.replace(
            row, metadata={"samples": {"scores": [0.3, row.score] if at % 2 else [row.score, 0.7]}}
        )
        for at, row in enumerate(judgements)
    ]


def harsh(judgements: list[Judgement]) -> list[Judgement]:
    """Return the judgements with those of the wording `brief` much lower."""
    return [
        msgspec.structs.replace(row, score=row.score / 3) if "brief" in row.judge and row.score else row
        for row in judgements
    ]


ONE = {"models": MODELS[:1], "judges": ("correctness",)}
BASELINE = {"models": (NO_MODEL,), "judges": ("containment",)}
EXTRACTIVE = {"system quotes": "extractive"}


def test_single_judgements_say_which_noise_is_not_in_the_interval(says):
    says(held_noise(summary_of(rows(**ONE))))
    says(held_noise(summary_of(rows(**ONE), **EXTRACTIVE)))
    says(held_noise(summary_of(rows(**BASELINE), answer="openai/gpt-4o-mini")))
    says(held_noise(summary_of(rows(**BASELINE), **EXTRACTIVE, **{"system own": "http"})))


@pytest.mark.parametrize("models", [{}, EXTRACTIVE])
def test_nothing_is_said_of_quotations_and_sheets_that_no_model_judged(models: dict[str, str]) -> None:
    assert held_noise(summary_of(rows(**BASELINE), **models)) == ""


def test_nothing_is_said_where_there_is_no_interval():
    assert held_noise(summary_of(rows(1, **ONE), answer="openai/gpt-4o-mini")) == ""
    failed = [judgement_row(status="timeout", score=None)]
    assert held_noise(summary_of(failed, answer="openai/gpt-4o-mini")) == ""
    assert held_noise(summary_of([], answer="openai/gpt-4o-mini")) == ""


def test_repeated_answers_are_not_said_to_be_missing(says):
    again = rows(**ONE, systems=("rag", "rag@repeat=2"))
    says(held_noise(summary_of(again)))
    says(held_noise(summary_of(rows(**BASELINE, systems=("rag", "rag@repeat=2")))))


def test_judges_and_wordings_have_a_table_and_one_sentence(says):
    says(text(rows(apart=0.2)))


def test_largest_share_is_said_with_what_would_narrow_it(says):
    says(noise_sentence(noise_components(rows(apart=0.2))))  # judges: no number of questions does as much
    says(noise_sentence(noise_components(rows(apart=0.06))))
    says(noise_sentence(noise_components(rows(apart=0.0))))  # questions
    says(noise_sentence(noise_components(rows(**ONE, systems=("rag", "rag@repeat=2"), differ=0.03))))
    says(noise_sentence(noise_components(sampled(rows(**ONE, differ=0.03)))))
    wordings = {"models": MODELS[:1], "judges": ("correctness", "correctness@prompt=brief")}
    says(noise_sentence(noise_components(harsh(rows(**wordings)))))
    says(noise_sentence(noise_components(rows(**ONE) * 2)))  # the same verdicts: only questions make noise


def test_cost_is_said_as_far_as_it_is_known(says):
    says(noise_sentence(noise_components(rows(apart=0.2, cost_usd=None))))
    says(noise_sentence(noise_components(rows(apart=0.2, cost_usd=None, usage=None))))


def test_uneven_verdicts_are_said(says):
    says(noise_sentence(noise_components(rows(apart=0.2)[5:])))


def test_several_systems_are_named_and_the_metric_that_says_most_leads(says):
    other = [msgspec.structs.replace(row, metric="tone", judge="tone") for row in rows(systems=("rag", "b"))]
    both = noise_components([*other, *rows(systems=("rag", "b"), apart=0.2)])
    assert len(both) == 4
    says(noise_sentence(both, several=True))


def test_a_baseline_is_named_and_leads_only_where_no_model_judged(says):
    again = ("rag", "rag@repeat=2")
    baseline, judge = rows(**BASELINE, systems=again), rows(**ONE, systems=again)
    says(noise_sentence(noise_components(baseline)))
    assert noise_sentence(noise_components([*baseline, *judge])) == noise_sentence(noise_components(judge))


def test_nothing_measured_twice_says_nothing():
    assert noise_sentence([]) == ""
    assert noise_blocks(summary_of(rows(**BASELINE))) == []
