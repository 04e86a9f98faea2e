import json

import pytest
from tests.support.command import TO_FILE, ragstone


def test_label_writes_a_sheet_that_becomes_labels(project, says):
    ragstone("judge", "answers.jsonl", "--judge", "containment", *TO_FILE)
    ran = ragstone("label", "judgements.jsonl", "-n", "4", "--sheet", "answers.jsonl", "-o", "to-label.jsonl")
    assert (ran.code, "4 answers to label for correctness" in ran.err) == (0, True)
    rows = [json.loads(line) for line in (project / "to-label.jsonl").read_text().splitlines()]
    assert [row["score"] for row in rows] == [None] * 4
    assert all(row["answer"].startswith("It is number") and row["question"] for row in rows)
    done = "".join(json.dumps({**row, "score": 1}) + "\n" for row in rows)
    (project / "mine.jsonl").write_text(done)
    assert "4 labelled answers" in ragstone("agree", "judgements.jsonl", "mine.jsonl").out
    ran = ragstone("label", "judgements.jsonl", "mine.jsonl", "-o", "more.csv")
    says(ran.err)
    assert (project / "more.csv").read_text().splitlines()[0].startswith("question_id,system,score,metric")


def test_label_replaces_nothing_unasked_and_obeys_seed_and_metric(project, says):
    ragstone("judge", "answers.jsonl", "--judge", "containment", "--judge", "context_overlap", *TO_FILE)
    ragstone("label", "judgements.jsonl", "-n", "3")
    first = (project / "to-label.jsonl").read_text()
    says(ragstone("label", "judgements.jsonl", "-n", "3").err)
    ran = ragstone(
        "label", "judgements.jsonl", "-n", "3", "--seed", "1", "--metric", "faithfulness", "--force"
    )
    second = (project / "to-label.jsonl").read_text()
    assert (ran.code, first != second, '"metric":"faithfulness"' in second) == (0, True, True)
    assert (
        "would be replaced" in ragstone("label", "judgements.jsonl", "-o", "judgements.jsonl", "--force").err
    )


def test_a_sheet_that_is_not_filled_in_names_the_line(project):
    ragstone("judge", "answers.jsonl", "--judge", "containment", *TO_FILE)
    ragstone("label", "judgements.jsonl", "-n", "2")
    ran = ragstone("agree", "judgements.jsonl", "to-label.jsonl")
    assert (ran.code, "to-label.jsonl:1: field 'score'" in ran.err) == (2, True)


def test_by_chooses_in_another_way_and_keeps_the_chances(project, says):
    ragstone("judge", "answers.jsonl", "--judge", "containment", "--judge", "token_f1", *TO_FILE)
    ran = ragstone("label", "judgements.jsonl", "-n", "3", "--by", "luck")
    assert (ran.code, "not a way to choose answers" in ran.err) == (2, True)
    ragstone("label", "judgements.jsonl", "-n", "3", "--by", "random", "-o", "equal.jsonl")
    assert "inclusion" not in (project / "equal.jsonl").read_text()
    ran = ragstone("label", "judgements.jsonl", "-n", "3", "--by", "disagreement")
    rows = [json.loads(line) for line in (project / "to-label.jsonl").read_text().splitlines()]
    assert all(0 < row["inclusion"] <= 1 and row["queue"].startswith("disagreement-") for row in rows)
    says(ran.err)
    says(ragstone("label", "judgements.jsonl", "--stratum", "crop", "-o", "strata.jsonl").err)


@pytest.fixture
def two_runs(project):
    """Two runs of the sheet, whose systems have one name; in the second every other answer is another."""
    rows = [json.loads(line) for line in (project / "answers.jsonl").read_text().splitlines()]
    for name, text in (("before", None), ("after", "I do not know.")):
        folder = project / "runs" / name
        folder.mkdir(parents=True)
        answers = [row | ({"answer": text} if text and at % 2 else {}) for at, row in enumerate(rows)]
        (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
        output = str(folder / "judgements.jsonl")
        ragstone("judge", str(folder / "answers.jsonl"), "--judge", "containment", "-o", output)
    return project


def test_compare_writes_both_answers_to_each_question(two_runs, says):
    ran = ragstone("label", "runs/before", "runs/after", "--compare", "-n", "4")
    says(ran.err)
    assert ran.code == 0
    rows = [json.loads(line) for line in (two_runs / "to-label.jsonl").read_text().splitlines()]
    assert len(rows) == 8
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert first["question_id"] == second["question_id"]
        assert {first["run"], second["run"]} == {"before", "after"}
        assert 0 < first["inclusion"] == second["inclusion"] <= 1
    assert any(row["answer"] == "I do not know." and row["run"] == "after" for row in rows)
    assert not any(row["answer"] == "I do not know." and row["run"] == "before" for row in rows)
    labels = "".join(json.dumps({**row, "score": 1}) + "\n" for row in rows)
    (two_runs / "mine.jsonl").write_text(labels)
    ran = ragstone(
        "label", "runs/before", "runs/after", "--compare", "-n", "999", "--labels", "mine.jsonl", "--force"
    )
    says(ran.err)
    assert ran.code == 0


@pytest.mark.parametrize(
    "given",
    [
        ["runs/before", "runs/before", "--compare"],
        ["runs/before", "--compare"],
        ["runs/before", "runs/after", "--compare", "--by", "ppi"],
        ["runs/before", "--system-a", "x"],
        ["runs/before", "runs/after", "--compare", "--system-b", "x"],
        ["runs/before", "--instructions", "none.md"],
        ["runs/before", "--instructions", "empty.md"],
    ],
    ids=lambda given: " ".join(given[1:]),
)
def test_what_label_cannot_do_is_told_and_nothing_is_written(two_runs, given, says):
    (two_runs / "empty.md").write_text(" \n")
    ran = ragstone("label", *given)
    says(ran.err)
    assert (ran.code, (two_runs / "to-label.jsonl").exists()) == (2, False)


def test_instructions_are_kept_once_and_their_digest_goes_with_the_labels(two_runs):
    (two_runs / "rules.md").write_text("Grade the facts.\r\n")
    for more in (["-o", "one.jsonl"], ["runs/after", "--compare", "-o", "two.jsonl"]):
        assert ragstone("label", "runs/before", *more, "--instructions", "rules.md").code == 0
    rows = [
        json.loads(line)
        for name in ("one.jsonl", "two.jsonl")
        for line in (two_runs / name).read_text().splitlines()
    ]
    assert {row["policy"] for row in rows} == {"bdd9ab72"}
    [kept] = (two_runs / ".ragstone" / "workbench" / "policies").iterdir()
    assert (kept.name, kept.read_text()) == ("bdd9ab72.md", "Grade the facts.\n")
    done = "".join(json.dumps({**row, "score": 1}) + "\n" for row in rows[:4])
    (two_runs / "mine.jsonl").write_text(done)
    ran = ragstone("agree", "runs/before", "mine.jsonl", "--policy", "bdd9ab72")
    assert "4 labelled answers" in ran.out
