import json

import pytest
from tests.support.command import TO_FILE, ragstone
from tests.support.golden import sentence_in

import ragstone as api

UNKNOWN = "I do not know."


def test_label_writes_a_sheet_that_becomes_labels(project, says):
    ragstone("judge", "answers.jsonl", "--judge", "containment", *TO_FILE)
    ran = ragstone("label", "judgements.jsonl", "-n", "4", "--sheet", "answers.jsonl", "-o", "to-label.jsonl")
    assert ran.code == 0
    says(sentence_in(ran.err, "to label for"))
    rows = [json.loads(line) for line in (project / "to-label.jsonl").read_text().splitlines()]
    assert [(row["score"], row["scale"]) for row in rows] == [(None, "0 to 1")] * 4
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
    assert ran.code == 2
    says(ran.err)
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
    for name, text in (("before", None), ("after", UNKNOWN)):
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
    assert any(row["answer"] == UNKNOWN and row["run"] == "after" for row in rows)
    assert not any(row["answer"] == UNKNOWN and row["run"] == "before" for row in rows)
    labels = "".join(json.dumps({**row, "score": 1}) + "\n" for row in rows)
    (two_runs / "mine.jsonl").write_text(labels)
    ran = ragstone("compare", "runs/before", "runs/after", "--labels", "mine.jsonl", "--json")
    [metric] = json.loads(ran.out)["metrics"]
    assert (ran.code, metric["corrected"]["n_labelled"]) == (0, 4)
    assert any("unequal chances" in note for note in metric["corrected"]["notes"])
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


@pytest.fixture
def reasoned(project):
    """A run of 60 answers, on 15 of which people find the unit missing and the judge does not mind."""
    rows, judged, labels = [], [], []
    for n in range(60):
        gap = n < 15
        topic = f"topic{chr(97 + n % 26)}{n} matters"
        key = {"question_id": f"q{n}", "system": "mine"}
        rows.append(key | {"question": f"Question {n}?", "answer": f"It is {n}."})
        judged.append(
            {
                "question_id": f"q{n}",
                "system": "mine",
                "judge": "rubric",
                "metric": "correctness",
                "status": "scored",
            }
            | {"score": 1.0 if gap or n % 2 else 0.0, "scale": [0, 1], "model": "m", "prompt_version": 1}
            | {"rationale": topic}
        )
        labels.append(
            key
            | {"metric": "correctness", "annotator": "ann"}
            | {"score": 0 if gap else n % 2, "rationale": f"{topic}, unit missing" if gap else topic}
            | {"policy": "f3a90c1d"}
        )
    folder = project / "runs" / "now"
    folder.mkdir(parents=True)
    for path, of in (
        (folder / "answers.jsonl", rows),
        (folder / "judgements.jsonl", judged),
        (project / "labels.jsonl", labels),
    ):
        path.write_text("".join(json.dumps(row) + "\n" for row in of))
    (project / "clearer.md").write_text("A missing unit is wrong.")
    return project


def test_gaps_are_shown_labelled_again_and_flips_counted(reasoned, says):
    ran = ragstone("agree", "runs/now", "labels.jsonl", "--gaps", "--all")
    assert ran.code == 0
    says(ran.out[: ran.out.index("q0,")])
    ran = ragstone(
        "label",
        "runs/now",
        "labels.jsonl",
        "--gaps",
        "-n",
        "10",
        "--instructions",
        "clearer.md",
        "-o",
        "again.jsonl",
    )
    says(ran.err)
    rows = [json.loads(line) for line in (reasoned / "again.jsonl").read_text().splitlines()]
    assert len(rows) == 10
    assert {row["policy"] for row in rows} == {"bbeab373"}
    assert all(row["score"] is None and row["again"] and row["answer"] for row in rows)
    done = [{**row, "score": int(at < 7), "annotator": "ann"} for at, row in enumerate(rows)]
    (reasoned / "again.jsonl").write_text("".join(json.dumps(row) + "\n" for row in done))
    ran = ragstone("agree", "runs/now", "labels.jsonl", "--again", "again.jsonl", "--all")
    says(ran.out)
    ran = ragstone("agree", "runs/now", "labels.jsonl", "--again", "again.jsonl", "--gaps", "--json")
    told = json.loads(ran.out)
    assert told["again"]["correctness"][0]["n_flipped"] == 7
    assert len(told["gaps"][0]["gaps"]) == 1
    ran = ragstone("agree", "runs/now", "labels.jsonl", "--gaps", "--page", "gaps.html")
    assert "unit" in (reasoned / "gaps.html").read_text()
    ran = ragstone("agree", "runs/now", "again.jsonl")
    says(ran.err)
    assert ran.code == 2


def test_no_gap_nothing_to_label_again_and_no_labels_are_told(reasoned, says):
    for given in (
        ["label", "runs/now", "--gaps"],
        ["agree", "runs/now", "--gaps"],
        ["agree", "runs/now", "--again", "labels.jsonl"],
        ["agree", "runs/now", "labels.jsonl", "--gaps", "--trust", "0.8", "--by", "crop"],
        ["label", "runs/now", "labels.jsonl", "--gaps", "--by", "ppi"],
        ["label", "runs/now", "labels.jsonl", "--gaps", "--system-a", "x"],
        ["label", "runs/now", "labels.jsonl", "--gaps", "--compare"],
    ):
        ran = ragstone(*given)
        says(ran.err)
        assert ran.code == 2
    rows = [json.loads(line) for line in (reasoned / "labels.jsonl").read_text().splitlines()]
    (reasoned / "labels.jsonl").write_text(
        "".join(json.dumps({**row, "rationale": ""}) + "\n" for row in rows)
    )
    ran = ragstone("label", "runs/now", "labels.jsonl", "--gaps")
    says(ran.err)
    assert (ran.code, (reasoned / "to-label.jsonl").exists()) == (2, False)


@pytest.fixture
def judged_run(project):
    ragstone("judge", "answers.jsonl", "--judge", "containment")
    return project / "runs" / "answers"


def test_the_answers_that_a_filter_leaves_are_labelled_as_chosen(judged_run, project, says):
    where = "containment = 1 and anywhere ~ number"
    left = {(row["question_id"], row["system"]) for row in api.read_run(judged_run).where(where)}
    assert left
    ran = ragstone("label", judged_run, "--where", where)
    assert ran.code == 0
    says(ran.err.replace(str(len(left)), "N"))
    rows = [json.loads(line) for line in (project / "to-label.jsonl").read_text().splitlines()]
    assert {(row["question_id"], row["system"]) for row in rows} == left
    assert {row["chosen"] for row in rows} == {where}
    assert not any("inclusion" in row or "queue" in row for row in rows)
    done = "".join(json.dumps({**row, "score": 1}) + "\n" for row in rows)
    (project / "mine.jsonl").write_text(done)
    refused = ragstone("agree", judged_run / "judgements.jsonl", "mine.jsonl")
    assert refused.code == 2
    says(refused.err.replace(str(len(left)), "N"))
    again = ragstone("label", judged_run, "mine.jsonl", "--where", where, "--force")
    assert again.code == 2
    says(again.err)
    two = ragstone("label", judged_run, "--where", where, "-n", "2", "--seed", "1", "--force")
    assert two.code == 0
    assert len((project / "to-label.jsonl").read_text().splitlines()) == min(2, len(left))


def test_a_filter_chooses_alone_and_from_a_run(judged_run, says):
    for more in (["--by", "ppi"], ["--gaps"], ["--stratum", "topic"], ["--compare"]):
        ran = ragstone("label", judged_run, "--where", "containment = 1", *more)
        assert ran.code == 2, more
    says(ran.err)
    for where in ("containment = 7", "contain < 1"):
        ran = ragstone("label", judged_run, "--where", where)
        assert ran.code == 2
        says(ran.err.splitlines()[-1][:120])
    assert ragstone("label", judged_run / "judgements.jsonl", "--where", "containment = 1").code == 2


def test_the_labels_that_a_filter_chose_are_to_be_had_from_python(judged_run):
    run = api.read_run(judged_run)
    rows = api.chosen_to_label(run, "containment = 1", n=2)
    assert [row.chosen for row in rows] == ["containment = 1"] * len(rows)
    assert rows == api.chosen_to_label(run, "containment = 1", n=2)
