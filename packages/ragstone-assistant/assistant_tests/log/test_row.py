"""What the log holds of an exchange, and what it does not."""

import json

import msgspec
import pytest
from assistant_tests.log.exchanges import ASKED, NOW, PASSAGE, PHONE, SAID, SECRET

from ragstone.kernel.privacy.masking import own_words
from ragstone.kernel.privacy.values import digest_of
from ragstone.kernel.records import Answer, Context, Label, Step, Turn, Usage
from ragstone_assistant.conversation import Asked, LoopStep, Said
from ragstone_assistant.log.exchange_log import answer_row, label_rows


def row_of(asked: Asked = ASKED, said: Said = SAID, own=None) -> Answer:
    return answer_row(asked, said, own, exchange_id="e1", conversation="c1", now=NOW)


def test_a_row_is_an_answer_with_its_trace_and_nobodys_name_or_number() -> None:
    row = row_of()
    assert row == Answer(
        question_id="e1",
        question="My name is [name], call [phone]. When do I plant maize?",
        answer="Dear [name], plant maize in late March [1].",
        system="assistant",
        contexts=[Context(text=PASSAGE.text, id="maize-3", document_id="maize.pdf", score=0.75)],
        steps=[
            Step(
                tool="search_documents",
                arguments={"question": "planting time for [phone]", "k": 5, "more": [{"who": "[name]"}]},
                result="found; told [phone]",
                seconds=0.5,
                thought="[name] asks when to plant.",
            )
        ],
        latency_s=1.5,
        usage=Usage(input=900, output=60, cached=10, calls=2),
        cost_usd=0.001,
        tags={
            "lang": "en",
            "crop": "maize",
            "region": "nakuru",
            "kind": "answer",
            "model": "openai/fake@127.0.0.1:80/v1",
            "prompt_version": "cited-1",
        },
        metadata={
            "time": "2026-11-21T23:30:05.250Z",
            "conversation_id": "c1",
            "steps": [
                {
                    "thought": "[name] asks when to plant.",
                    "action": "search_documents",
                    "arguments": {
                        "question": "planting time for [phone]",
                        "k": 5,
                        "more": [{"who": "[name]"}],
                    },
                    "observation": "found; told [phone]",
                    "status": "done",
                    "latency_s": 0.5,
                }
            ],
            "citations": [1],
        },
    )
    assert "Mary" not in msgspec.json.encode(row).decode()


def test_steps_are_calls_of_tools_and_what_failed_is_their_error() -> None:
    steps = [
        LoopStep(thought="", action=action, arguments={}, observation=said, status=status)
        for action, said, status in (
            ("weather", "The service is down.", "failed"),
            ("wether", "There is no such tool.", "invalid"),
            ("", "no JSON", "invalid"),
            ("weather", "12 mm", "done"),
            ("answer", "", "done"),
        )
    ]
    row = row_of(said=msgspec.structs.replace(SAID, steps=tuple(steps)))
    assert row.steps == [
        Step(tool="weather", error="The service is down.", seconds=0.0),
        Step(tool="wether", error="There is no such tool.", seconds=0.0),
        Step(tool="weather", result="12 mm", seconds=0.0),
    ]
    assert row.metadata is not None
    assert len(row.metadata["steps"]) == 5


def test_one_value_has_one_placeholder_in_all_of_a_row() -> None:
    asked = Asked(turns=(Turn("user", f"Call {PHONE} or +254 733 111 222."),))
    row = row_of(asked, msgspec.structs.replace(SAID, text="I note +254 733 111 222."))
    assert (row.question, row.answer) == ("Call [phone-1] or [phone-2].", "I note [phone-2].")


def test_own_words_are_masked_too_in_filters_as_well() -> None:
    asked = msgspec.structs.replace(ASKED, filters={"region": "Farm 17"})
    said = msgspec.structs.replace(SAID, tags={}, text="At Farm 17.")
    row = row_of(asked, said, own_words(["farm 17"]))
    assert row.answer == "At [masked]."
    assert row.tags is not None
    assert row.tags["region"] == "[masked]"


def test_an_exchange_with_an_error_has_no_answer() -> None:
    said = Said(text="Please try again.", kind="unavailable", lang="en", error=f"no reply for {PHONE}")
    row = row_of(said=said)
    assert (row.answer, row.error, row.contexts) == ("", "no reply for [phone]", None)
    assert row.tags == {"lang": "en", "crop": "maize", "kind": "unavailable"}


def test_a_search_that_found_nothing_has_no_contexts_and_no_search_has_none_at_all() -> None:
    nothing = msgspec.structs.replace(SAID, passages=(), citations=())
    assert row_of(said=nothing).contexts == []
    assert row_of(said=msgspec.structs.replace(nothing, steps=())).contexts is None


def test_half_a_surrogate_pair_can_be_written() -> None:
    row = row_of(Asked(turns=(Turn("user", "maize \ud83d?"),)))
    assert json.loads(msgspec.json.encode(row))["question"] == "maize \ufffd?"


def test_a_conversation_is_known_by_a_digest_that_depends_on_the_secret() -> None:
    first = digest_of(SECRET, "c1")
    assert first == digest_of(SECRET, "c1")
    assert (
        len({first, digest_of(SECRET, "c2"), digest_of(SECRET, "c1", "user"), digest_of(b"t" * 32, "c1")})
        == 4
    )


@pytest.mark.parametrize(
    ("thumb", "correction", "metric", "score", "rationale"),
    [
        ("up", None, "thumb", 1.0, None),
        ("down", f" In April; call {PHONE}. ", "thumb", 0.0, "In April; call [phone]."),
        (None, "In April.", "correction", 0.0, "In April."),
    ],
)
def test_feedback_is_a_label(thumb, correction, metric, score, rationale) -> None:
    assert label_rows("e1", thumb, correction, None, NOW) == [
        Label(
            question_id="e1",
            system="assistant",
            metric=metric,
            score=score,
            rationale=rationale,
            metadata={"time": "2026-11-21T23:30:05.250Z"},
        )
    ]


def test_neither_a_thumb_nor_words_is_no_label() -> None:
    assert label_rows("e1", None, " ", None, NOW) == []
