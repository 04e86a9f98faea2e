"""The worst and the best case of a mean, where rows failed: on request, and where many did."""

import json

import pytest
from tests.support.command import TO_FILE, ragstone
from tests.support.judged_runs import write_run
from tests.support.plain_rows import judgement_row

from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.tables import write_rows

# 5 of 7 answers are right and 3 failed: 5 / 10 and 8 / 10.
MANY = "worst case 0.50, best case 0.80"
# 30 of 39 are right and 1 failed, less than 5 %: 30 / 40 and 31 / 40.
FEW = "worst case 0.75, best case 0.78"


def write_sheet(folder, n_right, n_wrong, n_failed):
    """Write answers that hold `yes` or not, and some of which the application failed to give."""
    said = ["yes"] * n_right + ["no"] * n_wrong + [""] * n_failed
    rows = [
        Answer(
            question_id=f"q{at}",
            system="mine",
            question="Is it?",
            reference="yes",
            answer=text,
            error=None if text else "HTTP 500",
        )
        for at, text in enumerate(said)
    ]
    write_rows(folder / "sheet.jsonl", rows, Answer)


def judged(n_right, n_wrong, n_failed):
    scores = [1.0] * n_right + [0.0] * n_wrong + [None] * n_failed
    return [
        judgement_row(
            question_id=f"q{at}",
            system="mine",
            status="refused" if score is None else "scored",
            model="openai/fake",
            score=score,
            scale=(0, 1),
        )
        for at, score in enumerate(scores)
    ]


@pytest.mark.parametrize(
    ("counts", "options", "told"),
    [
        ((5, 2, 3), (), MANY),
        ((30, 9, 1), (), ""),
        ((30, 9, 1), ("--bounds",), FEW),
        ((5, 5, 0), ("--bounds",), ""),
    ],
)
def test_judge_shows_them_on_request_and_where_many_failed(folder, counts, options, told):
    write_sheet(folder, *counts)
    ran = ragstone("judge", "sheet.jsonl", "--judge", "containment", *options, *TO_FILE)
    assert ran.code == 0, ran.err
    assert ("worst case" in ran.out) == bool(told)
    assert told in " ".join(ran.out.split())


def test_json_has_them_wherever_a_row_failed(folder):
    write_sheet(folder, 30, 9, 1)
    ran = ragstone("judge", "sheet.jsonl", "--judge", "containment", "--json", *TO_FILE)
    assert json.loads(ran.out)["metrics"][0]["bounds"] == pytest.approx([0.75, 0.775])


@pytest.mark.parametrize(("option", "told"), [((), False), (("--bounds",), True)])
def test_the_reports_of_a_run_show_them(folder, option, told):
    write_sheet(folder, 30, 9, 1)
    ragstone("judge", "sheet.jsonl", "--judge", "containment")
    assert ragstone("report", "runs/sheet", *option).code == 0
    for name in ("report.html", "report.md"):
        assert (FEW in (folder / "runs/sheet" / name).read_text()) == told


def test_what_a_run_was_asked_to_show_it_goes_on_to_show(folder):
    write_sheet(folder, 30, 9, 1)
    ragstone("judge", "sheet.jsonl", "--judge", "containment", "--bounds")
    ragstone("report", "runs/sheet")
    assert FEW in (folder / "runs/sheet/report.html").read_text()


@pytest.mark.parametrize(
    ("counts", "option", "told"),
    [((5, 2, 3), (), MANY), ((30, 9, 1), (), ""), ((30, 9, 1), ("--bounds",), FEW)],
)
def test_the_page_of_a_file_of_judgements_shows_them(folder, counts, option, told):
    write_rows(folder / "judged.jsonl", judged(*counts), Judgement)
    ragstone("report", "judged.jsonl", *option)
    page = (folder / "judged.html").read_text()
    assert ("worst case" in page) == bool(told)
    assert told in page


def test_a_run_shows_them_in_terminal_and_report(folder):
    write_sheet(folder, 30, 9, 1)
    (folder / "ragstone.toml").write_text(
        '[answer]\nsheet = "sheet.jsonl"\n[judge]\njudges = ["containment"]\n[questions]\npath = "q.jsonl"\n'
    )
    questions = [{"id": f"q{n}", "question": "Is it?", "reference": "yes"} for n in range(40)]
    (folder / "q.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
    assert "worst case" not in ragstone("run").out
    assert FEW in " ".join(ragstone("run", "--bounds").out.split())
    assert FEW in (folder / "runs/run/report.html").read_text()


def test_a_comparison_shows_those_of_both_sides(folder, says):
    write_run(folder / "a", judged(30, 9, 1))
    write_run(folder / "b", judged(20, 20, 0))
    assert "worst case" not in ragstone("compare", "a", "b", "--all").out
    ran = ragstone("compare", "a", "b", "--bounds", "-o", "said.md", "--all")
    said = " ".join(ran.out.split())
    says(said[said.index("A 39 of") : said.index("B 40 of") + 11])
    assert FEW in (folder / "said.md").read_text()
    write_run(folder / "b", judged(5, 2, 33))
    said = " ".join(ragstone("compare", "a", "b", "--all").out.split())
    # 5 / 40 and 38 / 40, by itself, for 33 of 40 failed; A's 1 of 40 is less than 5 %.
    says(said[said.index("B 7 of") : said.index("best case") + 15])
    assert FEW not in said
