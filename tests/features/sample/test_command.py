import json

import pytest
from tests.support.command import ragstone

from ragstone.kernel.records import Answer, Question
from ragstone.kernel.tables import read_rows

ROWS = [
    {"q": "When is maize sown? I am Dr. Smith", "a": "In spring.", "thumb": "up"},
    {"q": "What does a loan cost?", "a": "5 %.", "thumb": "down"},
    {"q": "thanks"},
]


@pytest.fixture
def log(folder):
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return folder


def test_questions_and_answers_stand_beside_each_other(log, says):
    ran = ragstone("sample", "log.jsonl", "--count", 2, "--by", "random", "--answer", "a")
    assert ran.code == 0
    questions = list(read_rows("sampled/questions.jsonl", Question))
    assert {one.question for one in questions} == {
        "When is maize sown? I am Dr. [name]",
        "What does a loan cost?",
    }
    assert len(list(read_rows("sampled/answers.jsonl", Answer))) == 2
    says(ran.out)
    says(ran.err)


def test_the_sheet_of_answers_can_be_judged(log):
    ragstone("sample", "log.jsonl", "-o", "s.jsonl", "--by", "random", "--answer", "a")
    ran = ragstone("judge", "s.answers.jsonl", "--judge", "no_refusal", "-o", "j.jsonl")
    assert ran.code == 0


def test_files_that_exist_stay_without_force(log, says):
    arguments = ("sample", "log.jsonl", "--count", 1, "--by", "random")
    assert ragstone(*arguments).code == 0
    ran = ragstone(*arguments, "--seed", 1)
    assert ran.code == 2
    says(ran.err)
    assert ragstone(*arguments).code == 0
    assert ragstone(*arguments, "--seed", 1, "--force").code == 0


def test_a_shortfall_is_said_and_counts_under_strict(log, says):
    ran = ragstone("sample", "log.jsonl", "--count", 9, "--by", "random", "--strict")
    assert ran.code == 5
    says(ran.err)


def test_broken_rows_are_shown_and_count_under_strict(log):
    (log / "log.jsonl").write_text((log / "log.jsonl").read_text() + "{broken\n")
    ran = ragstone("sample", "log.jsonl", "--count", 2, "--by", "random", "--strict")
    assert ran.code == 5
    assert "log.jsonl:4: " in ran.err


def test_the_summary_is_json_on_demand(log, says):
    ran = ragstone("sample", "log.jsonl", "--count", 2, "--by", "quality", "--quality", "thumb", "--json")
    summary = json.loads(ran.out)
    assert (summary["taken"], summary["missing"], summary["by"]) == (2, 0, "quality")
    says(next(read_rows("sampled/questions.jsonl", Question)).question)


def test_keeping_personal_data_is_warned_of(log, says):
    ran = ragstone("sample", "log.jsonl", "--count", 2, "--by", "random", "--keep-personal-data")
    says(ran.err)
    assert any("Smith" in one.question for one in read_rows("sampled/questions.jsonl", Question))


def test_seed_limit_topics_tag_and_config_are_heard(log, says):
    (log / "other.toml").write_text('[sample]\nmask = ["maize"]\n')
    options = ("--limit", 2, "--topics", 1, "--tag", "thumb", "--config", "other.toml", "--seed", 5)
    ran = ragstone(
        "sample", "log.jsonl", "--count", 2, *options, "--reference", "a", "--question", "q", "--json"
    )
    assert json.loads(ran.out)["log"]["n_rows"] == 2
    assert json.loads(ran.out)["seed"] == 5
    questions = {one.tags["thumb"]: one for one in read_rows("sampled/questions.jsonl", Question)}
    says(questions["up"].question)
    assert questions["up"].reference == "In spring."


DATED = [
    {"q": "When is maize sown?", "a": "In May.", "crop": "maize", "at": "2026-10-31T23:00:00-05:00"},
    {"q": "when is maize sown", "a": "In spring.", "crop": "maize", "at": "2026-11-05"},
    {"q": "Which rust harms wheat most?", "a": "Stem rust.", "crop": "wheat", "at": 1793491200},
    {"q": "How deep is rice planted?", "a": "2 cm.", "crop": None, "at": "2026-10-01"},
]


def test_cells_of_a_tag_and_the_month_are_sampled_with_weights(log, says):
    (log / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in DATED))
    by = ("--by", "tag", "--tag", "crop", "--tag", "month", "--time", "at", "--answer", "a")
    ran = ragstone("sample", "log.jsonl", "--count", 3, *by)
    assert ran.code == 0
    says(ran.out)  # 31 October in Peru is 1 November
    says(ran.out)
    found = {one.question: one for one in read_rows("sampled/questions.jsonl", Question)}
    assert found["How deep is rice planted?"].tags == {"month": "2026-10"}
    assert found["When is maize sown?"].tags == {"crop": "maize", "month": "2026-11"}
    assert sorted(one.metadata["weight"] for one in found.values()) == [1, 1, 2]
    few = ragstone("sample", "log.jsonl", "--count", 1, *by, "-o", "few.jsonl", "--json")
    says(few.err)
    assert json.loads(few.out)["unspoken"] == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("none.jsonl",), "no such file"),
        (("log.jsonl", "--question", "q", "--by", "tag"), "name the tags with --tag"),
        (
            ("log.jsonl", "--question", "q", "--by", "tag", "--tag", "month"),
            "no question in the log has a time",
        ),
        (("log.jsonl", "--question", "q", "--time", "when"), "no column 'when'"),
        (("log.jsonl", "--question", "text"), "no column 'text'. Its columns: q, a, thumb"),
        (("log.jsonl", "--by", "quality"), "--quality"),
        (("log.jsonl", "--embedder", "none"), "unknown embedder"),
        (("log.jsonl", "--judgements", "none.jsonl"), "no such file"),
    ],
)
def test_wrong_use_says_what_to_do(log, arguments, said):
    ran = ragstone("sample", *arguments)
    assert (ran.code, said in ran.err) == (2, True)


def test_the_log_is_never_replaced(log, says):
    before = (log / "log.jsonl").read_bytes()
    ran = ragstone("sample", "log.jsonl", "-o", "log.jsonl", "--force")
    assert ran.code == 2
    says(ran.err)
    assert (log / "log.jsonl").read_bytes() == before


def test_a_log_of_which_nothing_can_be_asked_alone_says_what_its_rows_are(folder, says):
    (folder / "log.jsonl").write_text('{"question": "and the second one?"}\n{"question": "thanks"}\n')
    ran = ragstone("sample", "log.jsonl")
    assert ran.code == 2
    says(ran.err)


def test_one_is_told_as_one(folder, says):
    (folder / "log.jsonl").write_text('{"question": "When is wheat sown?", "answer": "In October."}\n')
    ran = ragstone("sample", "log.jsonl", "--count", 1, "--by", "random")
    says(ran.out)
    says(ran.err)
