"""Modes say no more than their counts bear: random counts, recomputed."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from tests.support.sentences import said

from ragstone.features.modes.values import ModesProposal, ModesSummary
from ragstone.features.modes.words import mode_line, modes_blocks, notes
from ragstone.kernel.document.blocks import Paragraph
from ragstone.kernel.runs.modes import Mode, ModeShare

few = st.integers(0, 30)
CHECKED = {"mode-checked", "mode-checked-without-its-judge"}


def mode_of(n_asked: int, n_yes: int, n_labelled: int, n_looked_at: int, *, checked: bool) -> Mode:
    share = ModeShare(value=0.07, low=0.04, high=0.11, n=n_labelled) if checked else None
    return Mode(
        name="refusals",
        title="refusals",
        question="",
        digest="d",
        judge_digest="j",
        kind="signs",
        n_asked=n_asked,
        n_yes=n_yes,
        n_labelled=n_labelled,
        n_looked_at=n_looked_at,
        n_true=n_looked_at // 2,
        prevalence=share,
    )


@given(few, few, few, few, st.booleans())
def test_a_mode_is_called_checked_only_where_labels_say_how_many_have_it(
    asked, yes, labelled, looked, checked
):
    line = mode_line(mode_of(asked, min(yes, asked), labelled, min(looked, labelled), checked=checked))
    codes = said(line.removeprefix("refusals: "))
    assert bool(CHECKED.intersection(codes)) is checked
    assert len(codes) == 1  # one sentence on each mode
    if "mode-not-checked" in codes:
        assert asked
        assert not checked


def test_the_share_of_answers_is_in_the_words_of_the_issue(says):
    line = mode_line(mode_of(100, 30, 60, 20, checked=True))
    says(line)


@given(few, few, few, st.booleans(), few, few, few)
def test_why_no_mode_is_named_is_said_only_where_it_is_so(
    wrong, right, tested, proposed, named, left_out, noted
):
    summary = ModesSummary(
        name="r",
        version="0",
        judge="correctness",
        metric="correctness",
        model="m",
        n_answers=wrong + right,
        n_wrong=wrong,
        n_left_out=left_out,
        modes=[],
        made_from={},
        proposal=ModesProposal(n_tested=tested, n_named=min(named, tested), n_notes=noted)
        if proposed
        else None,
    )
    text = " ".join(block.words for block in modes_blocks(summary) if isinstance(block, Paragraph))
    codes = said(f"{text} {' '.join(notes(summary))}")
    assert ("modes-none-wrong" in codes) is (wrong == 0)
    assert ("modes-all-wrong" in codes) is (wrong > 0 and right == 0)
    both = wrong > 0 and right > 0 and proposed
    assert ("modes-none-confirmed" in codes) is (both and tested > 0 and min(named, tested) == 0)
    assert ("modes-no-candidate" in codes) is (both and tested == 0)
    no_mode = {"modes-none-wrong", "modes-all-wrong", "modes-none-confirmed", "modes-no-candidate"}
    assert ("modes-wrong" in codes) is not bool(no_mode.intersection(codes))
    assert ("modes-few-wrong" in codes) is (both and wrong < 20)
    assert ("modes-left-out" in codes) is (left_out > 0)
    assert ("modes-notes-grouped" in codes) is (proposed and noted > 0)


def summary_of(**more) -> ModesSummary:
    numbers = {"n_answers": 400, "n_wrong": 60, "n_left_out": 0, "modes": []} | more
    return ModesSummary(
        name="r", version="0", judge="correctness", metric="correctness", model="m", made_from={}, **numbers
    )


def test_the_sentences_on_modes_and_runs(says):
    for mode in (
        mode_of(100, 30, 60, 20, checked=True),
        mode_of(100, 0, 60, 0, checked=True),
        mode_of(100, 30, 20, 20, checked=False),
        mode_of(0, 0, 0, 0, checked=False),
        mode_of(100, 30, 0, 0, checked=False),
    ):
        says(mode_line(mode))
    other = msgspec.structs.replace(mode_of(100, 30, 0, 0, checked=False), n_other_labels=3)
    for summary in (
        summary_of(modes=[other], n_uncovered=4),
        summary_of(n_left_out=2),
        summary_of(n_unanswerable=20),
        summary_of(proposal=ModesProposal(n_tested=4, n_read=100)),
        summary_of(
            proposal=ModesProposal(n_read=400, model="m", n_quotes=9, n_held=5, n_dropped=1, n_failed=2)
        ),
        summary_of(n_wrong=9, proposal=ModesProposal(n_read=400, n_of_people=2)),
        summary_of(proposal=ModesProposal(n_read=400, n_tested=4, n_known=1)),
        summary_of(proposal=ModesProposal(n_read=400, n_of_people=2, n_notes=9, n_grouped=5)),
        summary_of(n_wrong=0),
        summary_of(n_answers=60),
    ):
        first = [block.words for block in modes_blocks(summary) if isinstance(block, Paragraph)]
        says(" ".join([*first, *notes(summary)]))


def test_what_decides_of_unanswerable_questions_is_said_where_there_are_some():
    assert "modes-unanswerable-by-score" in said(" ".join(notes(summary_of(n_unanswerable=1))))
    assert notes(summary_of()) == []


def test_wrong_answers_that_no_mode_names_are_said_only_where_there_are_some():
    covered = summary_of(modes=[mode_of(100, 60, 0, 0, checked=False)], n_uncovered=0)
    assert "modes-uncovered" not in said(" ".join(notes(covered)))
    some_left = msgspec.structs.replace(covered, n_uncovered=1)
    assert "modes-uncovered" in said(" ".join(notes(some_left)))
