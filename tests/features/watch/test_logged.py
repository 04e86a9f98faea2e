"""Rows in anybody's columns become exchanges with their time, tags and feedback."""

import datetime

import pytest

from ragstone.features.watch._logged import Feedback, Logged, Masker, Reader, seconds_of
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.privacy.masking import own_words
from ragstone.kernel.records import Context

KEY = b"key"
NOON = 1_767_268_800.0  # 2026-01-01T12:00:00Z: 1767225600 is its midnight, and 12 * 3600 = 43200


def read(raw, **section):
    found = Reader(MonitorSection(**section), KEY).read(raw)
    assert isinstance(found, Logged)
    return found


@pytest.mark.parametrize(
    "given",
    [
        "2026-01-01T12:00:00Z",
        "2026-01-01T14:00:00+02:00",
        "2026-01-01T12:00:00",  # without a zone it is UTC
        "2026-01-01 12:00:00",
        datetime.datetime(2026, 1, 1, 12),
        datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC),
        NOON,
        str(int(NOON)),
        f"{NOON}",  # as a table has what time.time() gave
        "1.7672688e9",
        NOON * 1e3,
        NOON * 1e6,
        int(NOON) * 10**9,
    ],
)
def test_a_time_is_understood_in_many_shapes(given):
    assert seconds_of(given) == NOON


def test_a_date_is_its_midnight_and_what_is_no_time_is_none():
    assert seconds_of(datetime.date(2026, 1, 1)) == NOON - 43_200
    assert [seconds_of(one) for one in ("soon", 17, True, None, 10**40, 10**400, [1])] == [None] * 7


def test_a_day_is_that_in_utc():
    late = read({"question": "Why?", "time": "2026-01-01T23:30:00-02:00"})
    assert late.day == datetime.date(2026, 1, 2)
    assert read({"question": "Why?"}).day is None


def test_times_stand_under_known_names_or_that_of_the_settings():
    for name in ("timestamp", "@timestamp", "Created_At", "ts"):
        assert read({"question": "Why?", name: NOON}).time == NOON
    assert read({"question": "Why?", "metadata": {"time": NOON}}).time == NOON
    assert read({"question": "Why?", "when": {"asked": NOON}, "time": 5}, time="when.asked").time == NOON


def test_a_time_that_cannot_be_understood_is_counted():
    reader = Reader(MonitorSection(), KEY)
    assert reader.read({"question": "Why?", "time": "yesterday"}).time is None
    assert reader.unread_times == 1


def test_tags_are_those_of_the_row_and_the_columns_that_trends_are_shown_by():
    row = read(
        {"q": "Why?", "tags": {"crop": "maize", "kind": "answer"}, "place": "north", "language": "en"},
        tags=["crop", "place", "lang"],
    )
    assert row.tags == {"crop": "maize", "kind": "answer", "place": "north", "lang": "en"}
    shop = read({"q": "Why?", "shop": {"city": "Rome"}, "metadata": {"tier": 1}}, tags=["shop.city", "tier"])
    assert shop.tags == {"shop.city": "Rome", "tier": "1"}
    assert read({"q": "Why?", "channel": "web"}, strata=["channel"]).tags == {"channel": "web"}


def test_feedback_is_brought_to_0_to_1():
    assert read({"q": "Why?", "feedback": "👍"}).feedback == 1.0
    assert read({"q": "Why?", "thumb": "down"}).feedback == 0.0
    assert read({"q": "Why?", "stars": 4}, feedback="stars", feedback_scale=(1, 5)).feedback == 0.75  # 3 / 4
    assert read({"q": "Why?", "feedback": {"score": -1}}, feedback_scale=(-1, 1)).feedback == 0.0
    reader = Reader(MonitorSection(), KEY)
    assert reader.read({"q": "Why?", "feedback": 4}).feedback is None
    assert reader.unread_feedback == 1


def test_a_row_of_labels_is_what_a_person_said():
    said = Reader(MonitorSection(), KEY).read(
        {"question_id": "x1", "metric": "thumb", "score": 0, "rationale": "It is in May.", "system": "a"}
    )
    assert said == Feedback(name="x1", feedback=0.0, correction="It is in May.")


def test_a_label_names_its_exchange_by_a_number_too():
    assert read({"id": 3, "q": "Why?"}).name == "3"
    label = {"question_id": 3, "score": 1, "metric": "thumb"}
    assert Reader(MonitorSection(), KEY).read(label) == Feedback(name="3", feedback=1.0)


def test_a_correction_is_a_thumb_down_on_every_scale():
    row = {"question_id": "x1", "score": 0.0, "metric": "correction", "rationale": "In May."}
    reader = Reader(MonitorSection(feedback_scale=(1, 5)), KEY)
    assert reader.read(row) == Feedback(name="x1", feedback=0.0, correction="In May.")
    assert reader.unread_feedback == 0


def test_labels_of_annotators_and_judgements_are_no_feedback():
    reader = Reader(MonitorSection(), KEY)
    label = {"question_id": "x1", "system": "a", "score": 0}
    assert reader.read({**label, "metric": "correctness"}) is None
    assert reader.read({**label, "judge": "thumb", "metric": "thumb"}) is None
    assert isinstance(reader.read(label), Feedback)


def test_question_and_answer_may_stand_in_named_columns():
    row = read({"frage": "Warum?", "antwort": "Darum."}, question="frage", answer="antwort")
    assert (row.question, row.answer) == ("Warum?", "Darum.")


def test_an_exchange_is_known_by_its_content_so_that_ids_that_begin_anew_lose_nothing():
    one = {"id": "1", "question": "Why?", "answer": "So.", "time": NOON}
    assert read(one).digest == read({**one, "feedback": "up", "extra": 1}).digest
    others = [{**one, "time": NOON + 1}, {**one, "answer": "No."}, {**one, "id": "2"}]
    assert len({read(row).digest for row in [one, *others]}) == 4
    assert Reader(MonitorSection(), b"other").read(one).digest != read(one).digest


def test_a_trace_is_known_by_its_id_for_spans_may_come_late():
    one = {"question": "Why?", "answer": "So.", "metadata": {"trace_id": "t"}, "system": "gpt"}
    found = read(one)
    assert found.digest == read({**one, "answer": "So it is."}).digest
    assert (found.name, found.tags) == ("t", {"model": "gpt"})


def test_who_asked_is_a_keyed_digest():
    row = {"q": "Why?", "metadata": {"user_id": "ann@example.org"}}
    who = read(row).usage.who
    assert who == read({"q": "How?", "user_id": "ann@example.org"}).usage.who
    assert who != Reader(MonitorSection(), b"other").read(row).usage.who
    assert "ann" not in who
    assert read({"q": "Why?"}).usage.who is None


def test_an_error_of_the_application_is_kept():
    assert read({"question": "Why?", "error": "timeout"}).error == "timeout"


def test_a_row_of_the_assistants_log_is_read_whole():
    row = read(
        {
            "question_id": "e1",
            "question": "When is maize sown?",
            "answer": "In May [1].",
            "system": "assistant",
            "contexts": [{"id": "c1", "document_id": "d1", "text": "Maize is sown in May.", "score": 0.5}],
            "latency_s": 1.5,
            "tags": {"lang": "en", "kind": "answer", "model": "openai/one", "prompt_version": "2"},
            "metadata": {
                "time": "2026-01-01T12:00:00Z",
                "conversation_id": "c",
                "steps": [],
                "citations": [1],
            },
        }
    )
    assert (row.name, row.time, row.system) == ("e1", NOON, "assistant")
    assert row.tags == {"lang": "en", "kind": "answer", "model": "openai/one", "prompt_version": "2"}
    assert row.contexts is not None
    assert row.contexts[0].document_id == "d1"
    assert row.usage.who is not None


def masked(question, answer=None, *passages, own=(), **more):
    contexts = [Context(text=text, id="c") for text in passages] or None
    row = Logged(name="x", digest=b"d", question=question, answer=answer, contexts=contexts, **more)
    return Masker(own_words(list(own))).exchange(row)


def test_question_and_answer_share_their_placeholders():
    row = masked("I am at +91 98765 43210 or a@b.org", "We call +91 98765 43210.")
    assert (row.question, row.answer) == ("I am at [phone] or [email]", "We call [phone].")


def test_an_answer_that_gives_a_number_still_agrees_with_its_context():
    row = masked("Who helps?", "Call +91 98765 43210.", "The helpline is +91 98765 43210.", "Or none.")
    assert row.answer == "Call [phone]."
    assert row.contexts == [
        Context(text="The helpline is [phone].", id="c"),
        Context(text="Or none.", id="c"),
    ]


def test_passages_tags_and_errors_are_masked_too():
    row = masked(
        "Why?", "So.", "Write to a@b.org", tags={"user": "a@b.org", "crop": "maize"}, error="a@b.org?"
    )
    assert row.contexts == [Context(text="Write to [email]", id="c")]
    assert row.tags == {"user": "[email]", "crop": "maize"}
    assert row.error == "[email]?"


def test_ones_own_words_are_masked(says):
    says(masked("Is Blue Falcon out?", own=["Blue Falcon"]).question)


def test_what_people_say_is_masked():
    said = Masker(None).said(Feedback(name="x", feedback=0.0, correction="Write to a@b.org"))
    assert said.correction == "Write to [email]"
