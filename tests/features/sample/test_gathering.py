"""Logs in anybody's columns, packed, rotated and broken -> each question once."""

import gzip
import json

import pytest

from ragstone.features.sample._gathering import gather
from ragstone.features.sample.sampling import judged_qualities
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Judgement
from ragstone.kernel.tables.logs.exchange import Columns


def test_judgements_of_several_scales_are_averaged_between_0_and_1():
    def judged(score, scale, metric="m", status="scored"):
        same = {"question_id": "a", "system": "s", "judge": "j", "model": "none", "prompt_version": 1}
        return Judgement(**same, metric=metric, status=status, score=score, scale=scale)

    rows = [judged(3, (1, 5)), judged(1, (0, 1), "n"), judged(None, None, "n", "unparsable")]
    # (3 - 1) / (5 - 1) = 0.5 and 1: 0.75 on average; of n alone 1
    assert judged_qualities(rows, None) == ({"a": 0.75}, {"m", "n"})
    assert judged_qualities(rows, "n")[0] == {"a": 1.0}


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
        ("a.jsonl", b"\n", "has no rows"),
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
