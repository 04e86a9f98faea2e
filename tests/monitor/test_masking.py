"""Nothing that is kept or shown to judges holds personal data."""

from ragstone.monitor.logged import Logged, Masker, Said
from ragstone.privacy.masking import own_words
from ragstone.records import Context


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


def test_ones_own_words_are_masked():
    assert masked("Is Blue Falcon out?", own=["Blue Falcon"]).question == "Is [masked] out?"


def test_what_people_say_is_masked():
    said = Masker(None).said(Said(name="x", feedback=0.0, correction="Write to a@b.org"))
    assert said.correction == "Write to [email]"
