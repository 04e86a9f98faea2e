"""What is said of feedback, and what must not be said."""

import msgspec
import pytest

from ragstone.features.sample._feedback_answered import CorrectedAnswers
from ragstone.features.sample._feedback_rate import FeedbackRate, FeedbackShare
from ragstone.features.sample.feedback import KEPT, FeedbackSummary
from ragstone.features.sample.feedback_words import (
    feedback_lines,
    feedback_losses,
    keep_summary,
    kept_lines,
)

NOTHING = FeedbackSummary(
    n_rows=5,
    malformed=0,
    shown=[],
    n_exchanges=5,
    left_out={},
    n_up=0,
    n_down=0,
    n_corrections=0,
    n_questions=0,
    corrections_left_out={},
    replaced=0,
    unknown=0,
    unread=0,
)
SHARE = FeedbackShare(0.7, 0.6, 0.785, 100)
RATE = FeedbackRate(n_labelled=100, n_tied=0, n_exchanges=1000, right=SHARE, down_wrong=SHARE, up_right=None)
ANSWERED = CorrectedAnswers(run="a", system="mine", judge="right", n_questions=12, n=12, right=9, n_checked=4)


def lines(**changes):
    return feedback_lines(msgspec.structs.replace(NOTHING, **changes))


def test_everything_that_can_be_said(says):
    says("\n".join(lines(n_up=30, n_down=1, n_exchanges=1000, n_questions=12)))
    says("\n".join(lines(rate=RATE, n_questions=12, answered=[ANSWERED])))
    alone = msgspec.structs.replace(ANSWERED, n_checked=None, n=1, right=1)
    says("\n".join(lines(answered=[alone])))
    says("\n".join(lines(rate=msgspec.structs.replace(RATE, right=None, up_right=SHARE))))


def test_of_nothing_nothing_is_said():
    assert lines() == []


def test_thumbs_alone_give_no_share_of_right_answers(says):
    [line] = lines(n_up=30, n_down=10, n_exchanges=1000)
    assert "75 %" not in line
    says(line)


def test_with_a_group_unlabelled_no_rate_is_said(says):
    said = " ".join(lines(rate=msgspec.structs.replace(RATE, right=None)))
    says(said)
    assert "unknown" in said


def test_that_nobody_has_checked_corrections_is_not_said():
    assert "obody" not in " ".join(lines(n_questions=12))  # a review is in another file than the log


def test_a_tie_and_rows_that_are_not_counted_are_said():
    tied = msgspec.structs.replace(RATE, n_tied=2)
    lost = feedback_losses(msgspec.structs.replace(NOTHING, rate=tied, left_out={"follow_up": 3}))
    assert [("tied on 2" in line, "3 rows" in line) for line in lost] == [(False, True), (True, False)]


def test_every_run_that_was_named_has_its_line():
    assert len(lines(answered=[msgspec.structs.replace(ANSWERED, run=f"r{n}") for n in range(9)])) == 9


def test_a_run_that_scored_no_corrected_question_is_not_spoken_of():
    assert lines(answered=[msgspec.structs.replace(ANSWERED, n=0, right=0)]) == []


def test_beside_a_run_it_is_not_said_that_nobody_has_checked(says):
    said = " ".join(lines(n_questions=12, answered=[ANSWERED]))
    says(said)


def test_what_was_left_out_is_said_with_its_reason(says):
    assert feedback_losses(NOTHING) == []
    lost = msgspec.structs.replace(
        NOTHING,
        corrections_left_out={"too_long": 1, "follow_up": 2, "no_answer": 0},
        unknown=3,
        replaced=1,
        unread=2,
        malformed=1,
        shown=["log.jsonl: broken"],
    )
    says("\n".join(feedback_losses(lost)))


@pytest.mark.parametrize("text", [b"", b"{}", b'{"n_rows": "x"}'])
def test_the_page_has_what_was_said_last_or_that_it_cannot_be_read(tmp_path, text, says):
    keep_summary(tmp_path / "no store", NOTHING)
    assert not (tmp_path / "no store").exists()
    assert kept_lines(tmp_path) == []
    keep_summary(tmp_path, msgspec.structs.replace(NOTHING, answered=[ANSWERED]))
    [line] = kept_lines(tmp_path)
    says(line)
    (tmp_path / KEPT).write_bytes(text)
    [line] = kept_lines(tmp_path)
    says(line)
