"""Recorded verdicts of other tools and people's labels -> report cards, in one command."""

import csv
import json
import shutil
from pathlib import Path

import pytest
from tests.support.command import ragstone

from ragstone import Judgement, Label, join_labels, read_rows, report_cards

FIXTURES = Path(__file__).parents[2] / "fixtures" / "verdicts"
PEOPLE = [1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0]  # of the 16 answers in each file, in order


@pytest.fixture
def recorded(folder):
    for path in FIXTURES.glob("*.*"):
        shutil.copy(path, folder / path.name)
    rows = [json.loads(line) for line in (FIXTURES / "phoenix-evals.jsonl").read_text().splitlines()]
    with (folder / "labels.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "answer", "label"])
        writer.writerows(
            (row["question"], row["answer"], said) for row, said in zip(rows, PEOPLE, strict=True)
        )
    return folder


def card_of(ran, judge):
    assert ran.code == 0, ran.err
    [card] = [card for card in json.loads(ran.out) if card["judge"] == judge]
    return card


# The judge is wrong on w8 and w11: of 16 answers it agrees on 14. Where w13 failed it has no score: 13 of 15.
CARDS = {
    "langfuse.jsonl": ("correctness", 16, {"scored": 16}),
    "langsmith.jsonl": ("correctness", 15, {"scored": 15, "timeout": 1}),
    "mlflow-traces.jsonl": ("correctness", 15, {"scored": 15, "rate_limited": 1}),
}


@pytest.mark.parametrize("name", CARDS)
def test_a_file_with_peoples_annotations_needs_no_other(recorded, name):
    judge, n, statuses = CARDS[name]
    card = card_of(ragstone("agree", name, "--json"), judge)
    assert (card["n"], card["statuses"], card["n_unlabelled"], card["n_unjudged"]) == (n, statuses, 0, 0)
    assert card["confusion"] == [[n - 11, 1], [1, 9]]
    assert card["agreement"]["exact agreement"]["value"] == pytest.approx((n - 2) / n)


@pytest.mark.parametrize(
    ("name", "judge", "n", "statuses"),
    [
        ("otel-pydantic-evals.jsonl", "Correctness", 15, {"scored": 15, "timeout": 1}),
        ("azure-evaluation.json", "similarity", 15, {"scored": 15, "error": 1}),
    ],
)
def test_labels_by_text_find_the_verdicts(recorded, name, judge, n, statuses):
    options = ("--metric", "similarity") if judge == "similarity" else ()
    card = card_of(ragstone("agree", name, "labels.csv", *options, "--json"), judge)
    assert (card["n"], card["statuses"]) == (n, statuses)
    assert card["confusion"] == [[4, 1], [1, 9]]
    assert card["threshold"] == (3.0 if judge == "similarity" else None)


def test_labels_by_trace_find_them_too(recorded):
    events = list(read_rows("otel-pydantic-evals.jsonl", Judgement))
    traces = [row.metadata["trace_id"] for row in events if row.judge == "Correctness"]
    rows = "".join(f"{trace},{said}\n" for trace, said in zip(traces, PEOPLE, strict=True))
    (recorded / "by_trace.csv").write_text(f"trace_id,correctness\n{rows}")
    card = card_of(ragstone("agree", "otel-pydantic-evals.jsonl", "by_trace.csv", "--json"), "Correctness")
    assert card["confusion"] == [[4, 1], [1, 9]]


def test_judgements_that_were_imported_find_their_labels_as_the_file_itself_does(recorded):
    ragstone("import", "azure-evaluation.json", "-o", "judgements.jsonl")
    one = ragstone("agree", "judgements.jsonl", "labels.csv", "--metric", "similarity", "--json")
    other = ragstone("agree", "azure-evaluation.json", "labels.csv", "--metric", "similarity", "--json")
    assert (one.code, one.out) == (0, other.out)


def test_words_of_an_evaluator_are_scored_by_the_same_map_as_labels(recorded):
    rows = [json.loads(line) for line in Path("langsmith.jsonl").read_text().splitlines()]
    for row in rows:
        if row.get("key"):
            row["value"] = {True: "factual", False: "made up", None: None}[row.pop("score", None)]
    Path("words.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused = ragstone("agree", "words.jsonl")
    assert (refused.code, "--map" in refused.err) == (2, True)
    card = card_of(ragstone("agree", "words.jsonl", "--map", "factual=1,made up=0", "--json"), "correctness")
    assert card["confusion"] == [[4, 1], [1, 9]]


def test_the_card_says_which_judge_and_what_has_no_score(recorded, says):
    ran = ragstone("agree", "mlflow-traces.jsonl")
    says("\n".join(ran.out.splitlines()[:6]))


def test_what_no_label_is_for_is_said(recorded, says, caplog):
    (recorded / "few.csv").write_text(
        "question,label\nWhen is maize sown?,1\nWho knows?,0\nHow deep is maize sown?,0\n"
    )
    ran = ragstone("agree", "otel-pydantic-evals.jsonl", "few.csv", "--metric", "correctness")
    assert ran.code == 0
    says("\n".join(message for message in caplog.messages if "few.csv" not in message))


def test_a_tools_file_without_labels_asks_for_them(recorded, says):
    says(ragstone("agree", "azure-evaluation.json").err)
    says(ragstone("agree", "langfuse-scores-v3.jsonl").err)  # a note and a correction are no labels


def test_judges_of_one_name_in_two_tools_are_not_one_judge(recorded, says):
    ran = ragstone("compare", "langfuse.jsonl", "langsmith.jsonl")
    says((ran.code, ran.err))


def test_a_run_of_ours_without_labels_is_still_refused(project):
    ragstone("judge", "answers.jsonl", "--judge", "containment", "-o", "j.jsonl")
    assert ragstone("agree", "j.jsonl", "--trust", "0.5").code == 2


def test_the_same_from_python(recorded):
    judgements = list(read_rows("azure-evaluation.json", Judgement))
    labels = join_labels(judgements, list(read_rows("labels.csv", Label)))
    [card] = [card for card in report_cards(judgements, labels) if card.judge == "similarity"]
    assert (card.n, card.confusion) == (15, [[4, 1], [1, 9]])


def test_a_reason_of_ten_megabytes_does_not_fill_the_screen(recorded):
    rows = [json.loads(line) for line in Path("langsmith.jsonl").read_text().splitlines()]
    wrong = [
        row for row in rows if row.get("comment") and row["run_id"].endswith("3ef")
    ]  # w8: the judge is wrong
    wrong[0]["comment"] = "because " * 1_300_000
    Path("long.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = ragstone("agree", "long.jsonl")
    assert (ran.code, len(ran.out) < 20_000) == (0, True)
