import json

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
