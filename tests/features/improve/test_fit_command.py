import json

import pytest
from tests.support.command import TO_FILE, ragstone
from tests.support.texts import lines_with

from ragstone.kernel.judging import load_judge
from ragstone.kernel.records import Answer, Label
from ragstone.kernel.tables import write_rows


@pytest.fixture
def judged(folder):
    """Judgements by containment and token F1 of 120 answers, and people's labels: token F1 is always right.

    A third of the answers hold the reference, a third say it in another order (a yes too), and a third
    do not.
    """
    said = {0: "Sow early in May.", 1: "In May, early.", 2: "In June."}
    answers = [
        Answer(question_id=f"q{n}", question=f"When, {n}?", reference="early in May", answer=said[n % 3])
        for n in range(120)
    ]
    write_rows(folder / "answers.jsonl", answers, Answer)
    labels = [Label(question_id=f"q{n}", metric="correctness", score=float(n % 3 < 2)) for n in range(120)]
    write_rows(folder / "labels.jsonl", labels, Label)
    assert (
        ragstone("judge", "answers.jsonl", "--judge", "containment", "--judge", "token_f1", *TO_FILE).code
        == 0
    )
    return folder


FIT = ("judges", "fit", "judgements.jsonl", "labels.jsonl", "--cheap", "containment", "--agreement", 0.8)


def test_a_cascade_is_fitted_written_and_used(judged, says):
    ran = ragstone(*FIT, "-o", "steps.toml")
    assert ran.code == 0
    says(ran.err)
    says(lines_with(ran.out, "yes from"))
    cheap, dear = load_judge(judged / "steps.toml").members
    assert (cheap.judge, dear.judge) == ("containment", "token_f1")
    again = ragstone("judge", "answers.jsonl", "--judge", "steps.toml", "-o", "again.jsonl")
    says(lines_with(again.out, "Cascade"))


def test_half_of_the_questions_are_set_apart_on_request(judged):
    ran = ragstone(*FIT, "--test-share", 0.25, "--seed", 2, "--json", "-o", "steps.toml")
    fit = json.loads(ran.out)
    assert (fit["in_sample"]["n_questions"], fit["tested"]["n_questions"]) == (90, 30)
    assert fit["judge"]["tuned_on"] == load_judge(judged / "steps.toml").tuned_on
    other = json.loads(ragstone(*FIT, "--test-share", 0.25, "--json", "-o", "steps.toml", "--force").out)
    assert other["judge"]["tuned_on"] != fit["judge"]["tuned_on"]


def test_the_dear_judge_may_be_named_and_labels_be_grades(judged):
    ran = ragstone(*FIT, "--dear", "token_f1", "--yes-from", 1, "-o", "steps.toml")
    assert ran.code == 0
    assert ragstone(*FIT, "--dear", "chrf", "-o", "more.toml").code == 2


def test_a_file_that_exists_stays_as_it_is(judged, says):
    (judged / "steps.toml").write_text("mine")
    ran = ragstone(*FIT, "-o", "steps.toml")
    assert ran.code == 2
    says(ran.err)
    assert (judged / "steps.toml").read_text() == "mine"
    assert ragstone(*FIT, "-o", "steps.toml", "--force").code == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("-o", "steps.json"), "a judge's file ends in .toml, e.g. steps.toml"),
        (("-o", "My-steps.toml"), "name 'My-steps': a judge's name has lowercase letters"),
        (("--agreement", 0.999), "no scores of containment are sure enough"),
        (("--test-share", 0.999), "questions apart, and none is left to fit on"),
        (("--yes-from", "nan"), "yes from nan: give a number"),
        (("-o", "containment.toml"), "a judge of this name comes with Ragstone"),
        (("--yes-from", 2), "people said no for all 120 answers"),
    ],
)
def test_a_mistake_is_told_and_nothing_is_written(judged, options, says):
    ran = ragstone(*FIT, *options)
    assert (ran.code, says in ran.err) == (2, True)
    assert not list(judged.glob("*steps*"))
    assert not (judged / "cascade.toml").exists()
