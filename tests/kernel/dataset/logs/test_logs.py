"""Logs in anybody's columns, packed, rotated and broken -> each question once."""

import gzip
import json
from pathlib import Path

import pytest

from ragstone.features.sample.gathering import gather
from ragstone.features.sample.sampling import judged_qualities
from ragstone.kernel.dataset.logs.exchange import Columns, as_quality, exchange_of
from ragstone.kernel.dataset.logs.reading import log_files, read_log
from ragstone.kernel.dataset.logs.standing import why_left_out
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Judgement

MESSAGES = [
    {"role": "system", "content": "You help farmers."},
    {"role": "user", "content": "What is maize?"},
    {"role": "assistant", "content": "A cereal."},
    {"role": "user", "content": "When is maize sown?"},
    {"role": "assistant", "content": "In spring."},
]
REPLY = {"choices": [{"message": {"role": "assistant", "content": "In spring."}}]}


@pytest.mark.parametrize(
    "row",
    [
        {"question": "When is maize sown?", "answer": "In spring."},
        {"user_input": "When is maize sown?", "response": "In spring."},
        {"Query": "When is maize sown?", "Output": "In spring."},
        {"prompt": "When is maize sown?", "completion": "In spring."},
        {"messages": MESSAGES},
        {
            "conversations": [
                {"from": "human", "value": "When is maize sown?"},
                {"from": "gpt", "value": "In spring."},
            ]
        },
        {"request": {"model": "m", "messages": MESSAGES[:4]}, "response": REPLY},
        {"body": {"messages": MESSAGES[:4]}, "response": {"status_code": 200, "body": REPLY}},
        {
            "input": [{"role": "user", "content": [{"type": "input_text", "text": "When is maize sown?"}]}],
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "In spring."}]}],
        },
        {"inputs": {"question": "When is maize sown?"}, "outputs": {"answer": "In spring."}},
        {
            "turns": [
                {"speaker": "Customer", "text": "When is maize sown?"},
                {"speaker": "Agent", "text": "In spring."},
            ]
        },
    ],
    ids=lambda row: "-".join(row),
)
def test_question_and_answer_are_found_in_columns_of_many_tools(row):
    found = exchange_of(row, Columns())
    assert (found.question, found.answer) == ("When is maize sown?", "In spring.")


@pytest.mark.parametrize(
    "row", [{}, {"question": " "}, {"messages": []}, {"messages": MESSAGES[:1]}, {"level": 3}]
)
def test_a_row_that_asks_nothing_has_no_exchange(row):
    assert exchange_of(row, Columns()) is None


def test_a_last_message_without_a_reply_has_no_answer():
    assert exchange_of({"messages": MESSAGES[:4]}, Columns()).answer is None


def test_named_columns_go_before_known_ones_and_reach_into_objects():
    row = {"question": "no", "x": {"asked": "When?"}, "y": "Then.", "z": {"up": 1}, "r": "Now.", "c": "web"}
    found = exchange_of(row, Columns("x.asked", "y", "z.up", "r", ("c", "none")))
    assert (found.question, found.answer, found.quality, found.reference) == ("When?", "Then.", 1, "Now.")
    assert found.tags == {"c": "web"}


def test_contexts_of_any_form_come_along_and_odd_ones_do_not_matter():
    assert exchange_of({"q": "a?", "contexts": ["one"]}, Columns()).contexts[0].text == "one"
    assert exchange_of({"q": "a?", "contexts": [{"odd": 1}]}, Columns()).contexts is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("up", 1), ("👎", 0), ("👍️", 1), ("yes", 1), (True, 1), (False, 0), ("4/5", 4), ("3 out of 5", 3),
        ("★★★☆☆", 3),
        (-1, -1), ("2,5/5", 2.5), ({"score": 2}, 2), ({"type": "thumbs_down"}, 0), ("not helpful", 0),
    ],
)  # fmt: skip
def test_feedback_is_a_number(written, meant):
    assert as_quality(written) == meant


@pytest.mark.parametrize("written", [None, "", "I did not like it", {}, [], float("nan")])
def test_feedback_that_nobody_can_read_is_none(written):
    assert as_quality(written) is None


def test_judgements_of_several_scales_are_averaged_between_0_and_1():
    def judged(score, scale, metric="m", status="scored"):
        same = {"question_id": "a", "system": "s", "judge": "j", "model": "none", "prompt_version": 1}
        return Judgement(**same, metric=metric, status=status, score=score, scale=scale)

    rows = [judged(3, (1, 5)), judged(1, (0, 1), "n"), judged(None, None, "n", "unparsable")]
    # (3 - 1) / (5 - 1) = 0.5 and 1: 0.75 on average; of n alone 1
    assert judged_qualities(rows, None) == ({"a": 0.75}, {"m", "n"})
    assert judged_qualities(rows, "n")[0] == {"a": 1.0}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("yes", "small_talk"), ("Thanks a lot!", "small_talk"), ("Hola, buenos días", "small_talk"),
        ("谢谢", "small_talk"),
        ("नमस्ते", "small_talk"), ("شكرا", "small_talk"), ("???", "nothing_asked"), ("123", "nothing_asked"),
        ("and for maize?", "follow_up"), ("What about wheat?", "follow_up"), ("why?", "follow_up"),
        ("How much does it cost?", "follow_up"), ("What is that?", "follow_up"),
        ("¿y para el trigo?", "follow_up"),
        ("Und für Mais?", "follow_up"), ("Et pour le blé ?", "follow_up"), ("और गेहूँ के लिए?", "follow_up"),
        ("玉米呢?", "follow_up"), ("а для кукурузы?", "follow_up"),
        ("What is maize?", None), ("maize", None), ("What is that card?", None), ("玉米什么时候播种?", None),
        ("How do I apply for it when I live abroad?", None), ("¿En qué año murió Tesla?", None),
        ("Yes I want to know the rate of a loan", None), ("मक्का कब बोएं?", None),
    ],
)  # fmt: skip
def test_what_cannot_stand_alone_is_told_from_what_can(text, why):
    assert why_left_out(text) == why


def test_rows_that_differ_in_case_personal_data_or_politeness_are_one_question():
    texts = [
        "What is maize?",
        "what is maize",
        "What is the maize?",
        "Call 555-234-9999?",
        "call 555-234-8888",
        "hi",
    ]
    found = gather([{"question": text} for text in texts], Columns())
    assert [(one.text, one.n) for one in found.questions] == [("What is maize?", 3), ("Call [phone]?", 2)]
    assert (found.counts.n_rows, found.counts.repeats, found.counts.nearly) == (6, 3, 1)
    assert found.counts.left_out == {"small_talk": 1}
    assert found.masked == {"phone": 2}


def test_ids_do_not_depend_on_order_case_or_what_is_masked():
    def ids(*texts):
        return {
            one.text.casefold(): one.id
            for one in gather([{"q": text} for text in texts], Columns()).questions
        }

    first, second = ids("What is maize?", "Mail a@b.org?"), ids("MAIL X@Y.ORG?", "what is Maize")
    assert sorted(first.values()) == sorted(second.values())


def test_a_pasted_document_is_no_question():
    found = gather([{"q": "What is maize?"}, {"q": "word " * 1000}], Columns())
    assert found.counts.left_out == {"too_long": 1}


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_folders_packed_and_rotated_files_are_read(tmp_path):
    written(tmp_path / "app.jsonl", [{"q": "What is maize?"}])
    written(tmp_path / "app.jsonl.1", [{"q": "What is wheat?"}])
    written(tmp_path / "chat.log", [{"q": "What is rice?"}])
    (tmp_path / "app.jsonl-20260101.gz").write_bytes(gzip.compress(b'{"q": "What is rye?"}\n'))
    (tmp_path / "old.csv.gz").write_bytes(gzip.compress(b"q;c\nWhat is oat?;x\n"))
    (tmp_path / "notes.md").write_text("no log")
    texts = {one.text for one in gather([tmp_path], Columns()).questions}
    assert texts == {"What is maize?", "What is wheat?", "What is rice?", "What is rye?", "What is oat?"}


def test_traces_are_read_as_the_answers_in_them():
    log = Path(__file__).parents[3] / "fixtures/interchange/agent-otlp.jsonl"
    [(place, row)] = read_log(log)
    assert (place.line, row["question"]) == (1, "Will it rain in Nakuru, and how large is field 7?")
    assert [step["tool"] for step in row["steps"]] == ["weather", "field_map"]


def test_broken_lines_are_counted_and_the_first_ten_shown(tmp_path):
    lines = ['{"q": "What is maize?"}', *["{broken"] * 12, "[1]"]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    counts = gather([tmp_path / "a.jsonl"], Columns()).counts
    assert counts.malformed == 13
    assert len(counts.shown) == 10
    assert counts.shown[0].startswith(f"{tmp_path / 'a.jsonl'}:2: ")


def test_a_broken_row_of_a_table_does_not_end_it(tmp_path):
    (tmp_path / "a.csv").write_text("q,c\nWhat is maize?,x\nWhat, is, wheat?,y\nWhat is rye?,z\n")
    found = gather([tmp_path / "a.csv"], Columns())
    assert (len(found.questions), found.counts.malformed) == (2, 1)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b"{broken\n{broken\n", "no row of the log can be read"),
        ("a.jsonl", b"\x00\x01\xff\xfe\n\x9f", "no row of the log can be read"),
        ("a.csv", b"\xff\xfe\x00q\x00", "cannot be read as text"),
        ("a.jsonl.gz", b"no gzip", "cannot be unpacked"),
        ("a.jsonl", b"\n", "holds no rows"),
        ("a.jsonl", b'{"level": 1, "msg": 2}\n', "--question. The columns: level, msg"),
        ("a.exe", b"MZ", "cannot tell the format"),
        ("a.parquet", b"PAR1", "cannot be read as Parquet"),
    ],
)
def test_a_file_that_is_no_log_says_what_to_do(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=said):
        gather([tmp_path / name], Columns())


def test_a_column_that_is_nowhere_names_those_that_are(says):
    with pytest.raises(DataError) as error:
        gather([{"q": "What is maize?", "thumbs": 1}], Columns(quality="feedback"))
    says(error.value)


def test_sources_that_are_not_there_are_named(tmp_path, says):
    with pytest.raises(DataError, match="no such file"):
        log_files([tmp_path / "none.jsonl"])
    with pytest.raises(DataError, match="holds no log"):
        log_files([tmp_path])
    with pytest.raises(DataError) as error:
        log_files([])
    says(error.value)
