"""What a run says of systems that share no question."""

import msgspec
from tests.kernel.stages.test_notes import judged

from ragstone.features.run.pipeline import unranked_notes
from ragstone.kernel.judging import summarise
from ragstone.kernel.records import NO_MODEL


def test_systems_without_a_common_question_are_said_to_stand_in_no_order(says):
    rows = [
        judged("correctness", NO_MODEL),
        msgspec.structs.replace(judged("correctness", NO_MODEL), system="t"),
    ]
    [note] = unranked_notes(summarise(rows))
    says(note)
    assert unranked_notes(summarise(rows[:1])) == []
