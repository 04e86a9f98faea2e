"""Rounds of calls: never more than wanted, never fewer than there could be, and every candidate kept."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.features.build._built import Written
from ragstone.features.build._filling import Sift, WritingTask, WrittenCandidates, count_accepted, fill
from ragstone.features.build._losses import lose
from ragstone.kernel.config import Settings
from ragstone.kernel.dataset.candidate import Candidate, Loss, SourcePassage
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.session import open_session
from ragstone.kernel.records import Question

PASSAGE = SourcePassage(document_id="d", start=0, end=1, text="x")


def task(verdicts: Sequence[bool | None]) -> WritingTask:
    """Return a call whose candidates pass (True) or are lost (False); None: it fails."""

    async def write() -> Written:
        if None in verdicts:
            return Written(candidates=[], failed=Loss(reason="call_failed", detail="timeout: late"))
        asked = [Question(id="", question="good" if passes else "bad") for passes in verdicts]
        return Written(candidates=[Candidate(question=one, passages=(PASSAGE,)) for one in asked])

    return WritingTask(len(verdicts), write)


async def sift(candidates: list[Candidate], start: int) -> list[Candidate]:
    return [lose(one, "low_score") if one.question.question == "bad" else one for one in candidates[start:]]


def filled(
    calls: Sequence[Sequence[bool | None]],
    wanted: int | None,
    made: WrittenCandidates | None = None,
    sift: Sift = sift,
) -> WrittenCandidates:
    async def work() -> WrittenCandidates:
        async with open_session(Settings()) as session:
            return await fill(
                made or WrittenCandidates(), [task(one) for one in calls], wanted, session, sift
            )

    return run_sync(work())


def test_without_a_number_all_calls_are_made():
    made = filled([[True, False], [None], [True]], None)
    assert count_accepted(made) == 2
    assert made.n_asked == 4
    assert [loss.reason for loss in made.failed] == ["call_failed"]


def test_rounds_grow_with_what_is_lost():
    # Wanted 2: a round of 2 gives 1, so the next asks for (2 - 1) / (1 / 2) = 2, which give the other.
    made = filled([[True], [False], [False], [True], [True]], 2)
    assert made.n_asked == 4
    assert count_accepted(made) == 2


async def sift_by_two(candidates: list[Candidate], start: int) -> list[Candidate]:
    """Lose all, in turn for one reason and the other."""
    reasons = ("low_score", "no_evidence")
    return [lose(one, reasons[at % 2]) for at, one in enumerate(candidates)][start:]


@pytest.mark.parametrize("wanted", [5, 500, None])
@pytest.mark.parametrize(("sifted_by", "n_tried"), [(sift, 30), (sift_by_two, 100)])
def test_no_more_is_asked_where_all_is_lost_whatever_number_is_wanted(wanted, sifted_by, n_tried):
    made = filled([[False]] * 700, wanted, sift=sifted_by)
    assert (count_accepted(made), made.n_asked, len(made.candidates)) == (0, n_tried, n_tried)


def test_one_that_is_kept_is_reason_enough_to_go_on():
    made = filled([[at == 20] for at in range(300)], None)
    assert (count_accepted(made), made.n_asked) == (1, 300)


def test_what_was_there_before_is_neither_counted_nor_lost():
    before = filled([[True], [True]], None)
    made = filled([[True], [True]], 1, before)
    assert count_accepted(made) == 3
    assert made.candidates[:2] == before.candidates


@given(
    st.lists(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=4), max_size=12),
    st.integers(1, 9),
)
def test_as_many_as_wanted_or_all_there_are(calls, wanted):
    made = filled(calls, wanted)
    possible = sum(sum(passes is True for passes in one) for one in calls if None not in one)
    assert count_accepted(made) == min(wanted, possible)
    beyond = [one for one in made.candidates if one.loss and one.loss.reason == "beyond_count"]
    assert not beyond or count_accepted(made) == wanted
    assert made.n_asked == sum(len(one) for one in calls) or count_accepted(made) == wanted
    assert msgspec.json.encode(made) == msgspec.json.encode(filled(calls, wanted))
