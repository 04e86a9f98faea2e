"""Which verdicts of a second judge say something."""

from ragstone.features.blame._second import LONG, telling_verdicts, untelling_note
from ragstone.kernel.judging import load_judge
from ragstone.kernel.records import Question

SHORT = Question(id="short", question="?", reference="one two three four")
ENOUGH = Question(id="long", question="?", reference="one two three four five")
EITHER = Question(id="either", question="?", reference=["one two three four five", "six"])
QUESTIONS = {row.id: row for row in (SHORT, ENOUGH, EITHER)}


def telling(judge, **verdicts):
    found = telling_verdicts(judge, {(name, "s"): right for name, right in verdicts.items()}, QUESTIONS)
    return {name: right for (name, _), right in found.items()}


def test_a_denial_of_containment_counts_only_if_a_right_answer_would_repeat_the_reference():
    assert LONG == 5
    containment = load_judge("containment")
    assert telling(containment, short=False, long=False, either=False) == {"short": False, "either": False}
    assert telling(containment, short=True, long=True) == {"short": True, "long": True}


def test_other_judges_and_people_count_as_they_are():
    for judge in (load_judge("match"), load_judge("correctness"), None):
        assert telling(judge, long=False) == {"long": False}


def test_the_note_counts_what_was_not_counted(says):
    [note] = untelling_note("containment", 2)
    says(note)
    assert untelling_note("containment", 0) == []
