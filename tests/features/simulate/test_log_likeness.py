"""Simulated users beside those of a log: what is counted, worked by hand, and what a log may be like."""

import json

import pytest

from ragstone.features.simulate.log_likeness import likeness, spoken_in
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Turn


def talk(name, *said):
    turns = [turn for text in said for turn in (Turn("user", text), Turn("assistant", "Is that so?"))]
    return Answer(question_id=name, answer="-", turns=turns)


def thread(*said):
    return {"messages": [{"role": "user", "content": text} for text in said]}


def by_name(found):
    return {one.name: one for one in found.measures}


def test_rows_of_one_conversation_are_together_and_messages_are_a_whole_one():
    log = [
        {"question": "Hello", "conversation_id": "c1"},
        {"question": "alone"},
        {"question": "When to sow?", "conversation_id": "c1"},
        {"note": "nothing is asked here"},
        {"messages": [*thread("One", "Two")["messages"], {"role": "assistant", "content": "Three"}]},
        {"messages": [{"role": "user", "content": "x"}, {"role": "king", "content": "y"}]},
        {"question": "And session?", "session_id": "c1"},
    ]
    spoken, n_unread = spoken_in(log)
    assert [list(one) for one in spoken] == [
        *(["Hello", "When to sow?", "And session?"], ["alone"], ["One", "Two"]),
    ]
    assert n_unread == 2


def test_the_numbers_of_both_sides_are_those_worked_by_hand():
    log = [thread("Hello, when do I sow maize?", "Thanks"), thread("Price of wheat")]
    users = [talk("a", "Sow maize?"), talk("b", "And beans?", "Well, no")]
    found = by_name(likeness(users, log))
    values = {name: (one.log.value, one.users.value) for name, one in found.items()}
    # Log: 2 and 1 turns; 6, 1 and 3 words; one of three asks; "Hello," and "Thanks" are courtesies.
    # Users: 1 and 2 turns; 2, 2 and 2 words; two of three ask; "Well" is no courtesy.
    assert values == {
        "turns a conversation": (1.5, 1.5),
        "words a turn": (pytest.approx(10 / 3), 2.0),
        "turns that have a question mark": (pytest.approx(1 / 3), pytest.approx(2 / 3)),
        "turns that begin with a greeting or thanks": (pytest.approx(2 / 3), 0.0),
    }


def test_users_of_another_kind_are_apart_and_the_same_ones_are_not():
    log = [thread(f"When should I sow field number {n} of my farm this year?") for n in range(40)]
    same = [talk(str(n), f"When should I sow field number {n} of my farm this year?") for n in range(40)]
    other = [talk(str(n), f"goat {n}", "milk") for n in range(40)]
    alike, unlike = likeness(same, log), likeness(other, log)
    assert not any(one.apart for one in alike.measures)
    assert alike.shared.value == pytest.approx(1.0)
    found = by_name(unlike)
    assert found["turns that have a question mark"].apart
    # 40 of 40 beside 0 of 40: Wilson's intervals, 0.91 to 1 and 0 to 0.09.
    assert found["turns that have a question mark"].log.low == pytest.approx(0.912, abs=0.001)
    # Nothing varies on either side: one turn each, and two.
    assert (found["turns a conversation"].log.low, found["turns a conversation"].apart) == (None, True)
    assert unlike.shared.value < 0.1 < unlike.shared.low
    assert sum(one.log.value for one in unlike.topics) == pytest.approx(1.0)


def test_what_is_shared_stands_beside_what_as_many_of_the_log_would_share():
    # A third each asks about goats, maize and pumps. One conversation shares a third, whichever it is of.
    kinds = [
        "Which goat gives milk on farm {n}?",
        "Does maize grow in sand {n}?",
        "Who mends pumps in town {n}?",
    ]
    log = [thread(kind.format(n=n)) for kind in kinds for n in range(15)]
    shared = likeness([talk("a", "Which goat gives milk?")], log).shared
    assert (shared.value, shared.low, shared.high) == pytest.approx((1 / 3, 1 / 3, 1 / 3), abs=0.01)


def test_a_few_conversations_have_no_topics_and_are_not_said_to_differ():
    found = likeness([talk("a", "Sow?", "When?")], [thread("When?")])
    assert (found.topics, found.shared) == ([], None)
    assert not any(one.apart for one in found.measures)


def test_a_log_is_files_too_and_one_that_says_nothing_is_refused(tmp_path, says):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"question": "When?"}) + "\n{broken\n")
    found = likeness([talk("a", "Sow?")], [path])
    assert (found.n_log, found.n_users, found.n_unread) == (1, 1, 1)
    with pytest.raises(DataError, match="has no question"):
        likeness([talk("a", "Sow?")], [{"note": "x"}])
    with pytest.raises(DataError) as error:
        likeness([Answer(question_id="a", answer="x")], [path])
    says(error.value)
