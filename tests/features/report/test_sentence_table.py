"""A report says no more of a run than its rows bear: random counts and judges, recomputed."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.sentences import forbidden, said
from tests.support.tiny_run import card, judgement, summary_of

from ragstone.features.report._findings import findings
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.retrieval.summary import RetrievalSummary
from ragstone.kernel.runs.breakdown import FoundAndRight
from ragstone.kernel.runs.summary import RunSummary

NEXT = "`ragstone blame` looks for the cause of each."
MODEL = "openai/gpt-4o-mini"


@st.composite
def summaries(draw: st.DrawFn) -> RunSummary:
    """Return a run of a few judges with or without models and cards, and its answers by found and right."""
    rows = [
        judgement("q1", name, 1, model=draw(st.sampled_from(["none", MODEL])))
        for name in draw(st.lists(st.sampled_from(["correctness", "relevance"]), unique=True))
    ]
    few = st.integers(0, 30)
    model = draw(st.sampled_from(["none", MODEL]))
    blame = [
        FoundAndRight(
            system=f"s{at}",
            judge="correctness",
            metric="correctness",
            model=model,
            found_right=draw(few),
            found_wrong=draw(st.sampled_from([0, 3])),
            missed_right=draw(few),
            missed_wrong=draw(st.sampled_from([0, 2])),
            n_left_out=0,
        )
        for at in range(draw(st.integers(0, 2)))
    ]
    better = draw(st.sampled_from([True, False, None]))
    cards = [msgspec.structs.replace(card(better=bool(better)), better_than_baseline=better)]
    return msgspec.structs.replace(
        summary_of(rows), blame=blame, retrieval=[], cards=cards if draw(st.booleans()) else []
    )


def bad(cards: list[ReportCard], model: str) -> bool:
    """Return whether a judge of the metric may not say what is wrong."""
    mine = [one for one in cards if (one.judge, one.model) == ("correctness", model)]
    return model == "none" or any(one.better_than_baseline is not True for one in mine)


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(summaries())
def test_no_report_says_what_its_counts_do_not_bear(summary: RunSummary):
    right, blame, trust = findings(summary)
    codes = said(" ".join(right.sentences))
    models = {metric.model for metric in summary.metrics}
    assert ("no-judgement" in codes) is (not summary.metrics)
    assert "judge-measured" not in codes or (
        summary.cards and not bad(summary.cards, MODEL) and MODEL in models
    )
    assert "judge-unmeasured" not in codes or MODEL in models
    assert "baseline-leads" not in codes or "none" in models
    told = [code for text in blame.sentences if text != NEXT for code in said(text)]
    for row, code in zip(summary.blame, told, strict=False):
        n_wrong = row.found_wrong + row.missed_wrong
        weak = bad(summary.cards, row.model)
        assert (
            code
            in {
                (False, False): ("none-wrong", "blame-unknown"),
                (True, False): ("none-scored-low", "blame-unknown"),
                (False, True): ("wrong-found-or-missed",),
                (True, True): ("low-found-or-missed",),
            }[weak, n_wrong > 0]
        )
    if summary.blame and all(row.found_right + row.missed_right for row in summary.blame):
        assert len(told) == len(summary.blame)
    assert NEXT not in blame.sentences or any(row.found_wrong + row.missed_wrong for row in summary.blame)
    rest = [] if summary.cards else said(" ".join(trust.sentences))
    assert ("no-labels" in rest) is (not summary.cards and MODEL in models)
    assert not forbidden([*codes, *told, *rest])


def test_what_is_said_of_each_kind_of_judge(says):
    for model in ("none", MODEL):
        for cards in ([], [card(better=True)], [card(better=False)]):
            own = [msgspec.structs.replace(one, model=model) for one in cards]
            summary = msgspec.structs.replace(
                summary_of([judgement("q1", "correctness", 1, model=model)]), cards=own
            )
            says(findings(summary)[0].sentences[0])


@pytest.mark.parametrize(
    ("n_unanswerable", "n_unlabelled", "n_questions", "code"),
    [
        (4, 0, 0, "blame-unanswerable"),
        (3, 1, 0, "blame-unknown"),
        (0, 4, 0, "blame-unknown"),
        (1, 0, 3, "blame-unknown"),  # rankings of three, which are all empty
    ],
)
def test_questions_without_an_answer_are_not_blamed_for_naming_no_document(
    n_unanswerable: int, n_unlabelled: int, n_questions: int, code: str, says
) -> None:
    row = RetrievalSummary(
        retriever="bm25",
        depth=5,
        n_questions=n_questions,
        n_unlabelled=n_unlabelled,
        n_unanswerable=n_unanswerable,
        n_unranked=0,
        measures={},
        rank_histogram={},
    )
    summary = msgspec.structs.replace(summary_of([]), retrieval=[row], blame=[])
    sentences = " ".join(findings(summary)[1].sentences)
    assert said(sentences) == [code]
    says(sentences)
