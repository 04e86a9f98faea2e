"""A set that is checked: its repeats, what its parts share, and how it asks beside a log."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.command import ragstone
from tests.support.surfaces import shown

from ragstone.features.check._types import type_of
from ragstone.features.check.sets import FEWEST, check_set
from ragstone.features.check.words import set_document
from ragstone.kernel.corpus.question_types import TYPES
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Question

WHAT = [f"What does field number {n} cost?" for n in range(300)]
HOW_TO = [f"How do I water field number {n}?" for n in range(300)]


def rows(*texts, start=0, document=None, reference=None):
    return [
        Question(id=f"q{n}", question=text, document_ids=document and [document], reference=reference)
        for n, text in enumerate(texts, start)
    ]


def told(check):
    return shown(set_document(check))


@pytest.mark.parametrize(
    ("text", "lang", "kind"),
    [
        ("How much water does maize need?", "en", "amount"),
        ("how many eggs", "en", "amount"),
        ("When is it sown?", "en", "time"),
        ("In what year was the mill built by No. 7 Co. founded?", "en", "time"),
        ("Where does it grow?", "en", "place"),
        ("Who sells it?", "en", "person"),
        ("Why do leaves turn yellow?", "en", "reason"),
        ("My maize is yellow. How can I treat it?", "en", "procedure"),
        ("Is it ripe?", "en", "yes_no"),
        ("If it rains, can I sow?", "en", "yes_no"),
        ("What is the difference between rye and oats?", "en", "choice"),
        ("Which pest eats rye?", "en", "fact"),
        ("Explain crop rotation.", "en", "request"),
        ("yellow leaves maize", "en", "keywords"),
        ("You grow it, right?", "en", None),
        ("Wie viel Wasser braucht Mais?", "de", "amount"),
        ("Kann ich Mais im Mai säen?", "de", "yes_no"),
        ("¿Por qué amarillean las hojas?", "es", "reason"),
        ("Comment puis-je semer ?", "fr", "procedure"),
        ("Quando si semina?", "it", "time"),
        ("Quem vende milho?", "pt", "person"),
        ("Waarom worden bladeren geel?", "nl", "reason"),
        ("मक्का कब बोया जाता है?", "hi", None),
        ("???", "en", None),
    ],
)
def test_questions_have_the_type_of_their_first_question_word(text, lang, kind):
    assert type_of(text, lang) == kind


@given(st.text(max_size=60), st.sampled_from(["en", "de", "fr", "es", "pt", "it", "nl", "hi", None]))
def test_any_text_has_a_type_or_none(text, lang):
    assert type_of(text, lang) in (None, *TYPES)


def test_repeats_within_a_part_and_between_parts_are_told(says):
    parts = {
        "dev": rows("When is maize sown?", "Could you please tell me when maize is sown?", "Why is it red?"),
        "test": rows("When is maize sown ?", "How deep are its roots?", start=3),
    }
    check = check_set(parts)
    assert [(one.id, one.of_id, one.exact) for one in check.repeats] == [
        ("q1", "q0", False),
        ("q3", "q0", True),
    ]
    assert [(pair.n_repeats, pair.n_documents) for pair in check.pairs] == [(1, 0)]
    says(told(check))


def test_a_repeat_with_another_answer_is_told_and_one_with_the_same_is_not(says):
    first = rows("When is maize sown?", reference="in April", document="a")
    other = check_set([*first, *rows("When is maize sown?", start=1, reference="in May", document="b")])
    same = check_set([*first, *rows("When is maize sown?", start=1, reference="In  april")])
    assert [one.other_answer for one in (*other.repeats, *same.repeats)] == [True, False]
    says(told(other))
    assert "another reference" not in told(same)


def test_parts_on_one_document_are_told(says):
    check = check_set(
        {"dev": rows("When?", document="a"), "test": rows("Why?", "How?", document="a", start=1)}
    )
    assert [(pair.n_documents, pair.n_questions) for pair in check.pairs] == [(1, 2)]
    says(told(check))


def test_a_set_without_repeats_says_what_was_not_compared(says):
    check = check_set(rows("When is maize sown?", "At which time does one put maize into the ground?"))
    assert check.repeats == []
    says(told(check))


def test_a_type_that_the_set_lacks_is_told_with_both_shares(says):
    log = [{"question": text} for text in [*WHAT[:60], *HOW_TO[:40]]]
    check = check_set(rows(*WHAT[:98], *HOW_TO[:2]), log=log)
    assert {share.type: share.differs for share in check.types} == {"procedure": "fewer", "fact": "more"}
    says(told(check))


def test_the_same_shares_are_not_said_to_differ(says):
    log = [{"question": text} for text in [*WHAT[:60], *HOW_TO[:40]]]
    check = check_set(rows(*WHAT[:62], *HOW_TO[:38]), log=log)
    assert [share.differs for share in check.types] == [None, None]
    says(told(check))


def test_few_questions_are_not_compared(says):
    log = [{"question": text} for text in HOW_TO[:FEWEST]]
    check = check_set(rows(*WHAT[: FEWEST - 1]), log=log)
    assert [share.differs for share in check.types] == [None, None]
    says(told(check))


def test_one_talkative_conversation_is_no_proof():
    # 40 of 100 rows are of one conversation: what it asks is known of one user.
    log = [{"question": text, "conversation_id": f"c{n}"} for n, text in enumerate(WHAT[:60])]
    log += [{"question": text, "conversation_id": "talkative"} for text in HOW_TO[:40]]
    check = check_set(rows(*WHAT[:98], *HOW_TO[:2]), log=log)
    assert [share.differs for share in check.types] == [None, None]


def test_a_log_of_one_conversation_is_not_compared(says):
    log = [{"question": text, "conversation_id": "c"} for text in HOW_TO[:40]]
    check = check_set(rows(*WHAT[:40]), log=log)
    assert [share.differs for share in check.types] == [None, None]
    says(told(check))


def test_questions_in_a_language_without_types_are_said_to_have_none(says):
    says(told(check_set(rows("Kapan saya menanam jagung?"))))


def test_what_continues_a_conversation_is_not_counted():
    log = [{"question": text} for text in ("thanks", "And for rice?", *WHAT[:3])]
    assert check_set(rows(*WHAT), log=log).n_log == 3


@pytest.mark.long
def test_shares_that_are_the_same_are_said_to_differ_in_at_most_one_of_twenty_draws():
    rng, false = np.random.default_rng(0), 0
    for _ in range(20):
        sides = [[HOW_TO[n] if rng.random() < 0.3 else WHAT[n] for n in range(80)] for _ in range(2)]
        check = check_set(rows(*sides[0]), log=[{"question": text} for text in sides[1]])
        false += any(share.differs for share in check.types)
    assert false <= 4  # of 20 at 5 %: 5 or more in one of 390 runs


@pytest.mark.parametrize(
    ("parts", "log"),
    [([], None), ({"a": []}, None), (rows("Why?"), [{"question": "thanks"}])],
)
def test_nothing_to_check_is_an_error(parts, log, says):
    with pytest.raises(DataError) as caught:
        check_set(parts, log=log)
    says(caught.value)


def written(folder, name, questions):
    lines = (json.dumps({"id": one.id, "question": one.question}) + "\n" for one in questions)
    (folder / name).write_text("".join(lines), encoding="utf-8")


def test_command_ends_with_1_where_questions_repeat(folder, says):
    written(folder, "dev.jsonl", rows("When is maize sown?", "Why?"))
    written(folder, "test.jsonl", rows("When is maize sown?", start=2))
    ran = ragstone("check", "dev.jsonl", "test.jsonl")
    assert ran.code == 1
    says(ran.out)
    assert ragstone("check", "dev.jsonl").code == 0
    found = json.loads(ragstone("check", "dev.jsonl", "test.jsonl", "--json").out)
    assert found["pairs"][0]["n_repeats"] == 1


@pytest.mark.parametrize("names", [("dev.jsonl", "dev.jsonl"), ("none.jsonl",), ("log.txt",)])
def test_files_that_cannot_be_checked_are_named(folder, names, says):
    written(folder, "dev.jsonl", rows("Why?"))
    (folder / "log.txt").write_text("", encoding="utf-8")
    ran = ragstone("check", *names)
    assert ran.code == 2
    says(ran.err)


@pytest.mark.parametrize(
    "other", ["./dev.jsonl", "absolute", "symlink.jsonl", "hard.jsonl", "../here/dev.jsonl"]
)
def test_one_file_under_two_paths_is_an_error_and_a_copy_is_none(other, tmp_path, monkeypatch, says):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    row = '{"id": "q", "question": "When was the mill built?"}\n'
    for name in ("dev.jsonl", "copy.jsonl"):
        (folder / name).write_text(row)
    (folder / "symlink.jsonl").symlink_to("dev.jsonl")
    (folder / "hard.jsonl").hardlink_to(folder / "dev.jsonl")
    name = str(folder / "dev.jsonl") if other == "absolute" else other
    with pytest.raises(ConfigError) as error:
        check_set(["dev.jsonl", name])
    says(error.value)
    assert check_set(["dev.jsonl", "copy.jsonl"]).pairs[0].n_repeats == 1


def test_a_file_named_twice_is_an_error(says):
    with pytest.raises(ConfigError) as caught:
        check_set(["a.jsonl", "a.jsonl"])
    says(caught.value)
