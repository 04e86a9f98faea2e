"""`ragstone agree`: the page, the groups, tuned rows."""

import json

import pytest
from tests.support.command import ragstone


@pytest.fixture
def judged(project):
    """The sheet judged by a baseline, and labels with two further columns."""
    labels = [
        {
            "question_id": f"q{n}",
            "system": "mine",
            "score": n % 2,
            "crop": "wheat" if n < 3 else "maize",
            "lang": "en",
        }
        for n in range(6)
    ]
    (project / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels))
    ragstone("judge", "answers.jsonl", "--judge", "containment")
    return project


def test_page_is_written_beside_what_is_shown(judged):
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--page", "card.html")
    assert (ran.code, "Report cards: card.html" in ran.out) == (0, True)
    page = (judged / "card.html").read_text(encoding="utf-8")
    assert "How far can the judge be trusted?" in page
    assert "containment: correctness" in page


def test_page_goes_with_json_too(judged):
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--page", "card.html", "--json")
    assert json.loads(ran.out)[0]["judge"] == "containment"
    assert (judged / "card.html").is_file()


def test_answers_are_grouped_by_a_column_that_is_asked_for(judged):
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--by", "crop")
    assert "by crop" in ran.out
    assert "by crop" not in ragstone("agree", "judgements.jsonl", "labels.jsonl").out
    wrong = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--by", "soil")
    assert (wrong.code, "no label and no judgement has a field 'soil'" in wrong.err) == (2, True)


def test_rows_that_the_judge_was_made_with_are_refused(judged):
    rows = [json.loads(line) for line in (judged / "judgements.jsonl").read_text().splitlines()]
    for row in rows:
        row["metadata"] = {"tuned": True}
    (judged / "judgements.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl")
    assert (ran.code, "that judge 'containment' was made with" in ran.err) == (2, True)


def test_page_does_not_replace_the_labels(judged):
    before = (judged / "labels.jsonl").read_bytes()
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--page", "labels.jsonl")
    assert (ran.code, "is what this command reads" in ran.err) == (2, True)
    assert (judged / "labels.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--map", "good=1"), "write LABEL=SCORE, both numbers"),
        (("--map", "1=nan"), "write LABEL=SCORE, both numbers"),
        (("--threshold", "containment=inf"), "write NAME=NUMBER"),
        (("--threshold", "containment=5000"), "its scale is 0 to 1"),
        (("--threshold", "contanment=0.5"), "Did you mean 'containment'?"),
    ],
)
def test_options_that_mean_nothing_are_refused(judged, given, said):
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", *given)
    assert (ran.code, said in ran.err) == (2, True)


def test_threshold_of_a_variant(judged):
    rows = (judged / "judgements.jsonl").read_text(encoding="utf-8")
    (judged / "judgements.jsonl").write_text(rows.replace('"containment"', '"rubric@scale=0-10"'))
    ran = ragstone(
        "agree", "judgements.jsonl", "labels.jsonl", "--threshold", "rubric@scale=0-10=1", "--json"
    )
    assert ran.code == 0
