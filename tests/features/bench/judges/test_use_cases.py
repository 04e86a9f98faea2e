"""Two benches of judges beside each other, as a user types it; no judge here asks a model."""

import json
import shutil
from pathlib import Path

import pytest
from tests.support.command import ragstone

from ragstone import bench_judges, load_settings

# What each system answers to a question whose reference is "red".
RIGHT, LONG, WRONG = "red", "It may well be red, as far as anybody knows.", "blue"


def write_bench(folder, name, answers, *, keys="", prefix="q", metric="correctness", n=20):
    """Write a sheet and settings. answers: system -> its answer to the questions that are even, and odd."""
    rows = [
        {
            "question_id": f"{prefix}{at}",
            "question": f"{prefix}: what colour is thing {at}?",
            "reference": "red",
            "system": system,
            "answer": both[at % 2],
            "human_label": int("red" in both[at % 2]),
        }
        for at in range(n)
        for system, both in answers.items()
    ]
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / f"{name}.toml").write_text(
        f'[run]\nname = "{name}"\n[bench.judges]\nsheet = "{name}.jsonl"\nmetric = "{metric}"\n'
        f'judges = ["containment", "token_f1"]\nmeasure = "Spearman"\n{keys}'
    )
    return folder / f"{name}.toml"


GOOD_IS_LONG = {"good": (LONG, LONG), "middling": (RIGHT, WRONG), "poor": (WRONG, WRONG)}
GOOD_IS_SHORT = {"good": (RIGHT, RIGHT), "middling": (WRONG, LONG), "poor": (WRONG, WRONG)}


@pytest.fixture
def first(folder):
    """A bench in which the best system is wordy, which F1 of tokens punishes."""
    path = write_bench(folder, "first", GOOD_IS_LONG)
    bench_judges(load_settings(path))
    return folder


@pytest.mark.long
def test_order_of_the_systems_beside_that_of_another_use_case(first):
    path = write_bench(first, "second", GOOD_IS_SHORT, prefix="r", keys='use_cases = ["runs/first-judges"]\n')
    ran = ragstone("bench", "judges", "--config", path, "--json")
    assert ran.code == 0, ran.err
    board = json.loads(ran.out)["board"]
    means = {
        one["by"]: {name: mean["value"] for name, mean in one["means"].items()}
        for one in board["orders"]["orders"]
    }
    assert means["people"] == means["containment"] == {"good": 1.0, "middling": 0.5, "poor": 0.0}
    [beside] = board["elsewhere"]
    assert (beside["name"], beside["n_questions"]) == ("first-judges", [20, 20])
    said = {one["first"]: one for one in beside["comparisons"]}
    assert (said["people"]["verdict"], len(said["people"]["same"])) == ("holds", 3)
    # In the first use case F1 of tokens puts the short answer, right half of the time, above the long one.
    assert (said["token_f1"]["verdict"], said["token_f1"]["reversed"]) == (
        "does not hold",
        [["good", "middling"]],
    )
    assert "over to first-judges?" in (first / "runs/second-judges/report.html").read_text()
    assert "over to first-judges?" in ragstone("bench", "judges", "--config", path, "--all").out


def test_order_of_the_judges_is_compared_where_no_system_is_in_both(first, says):
    answers = {"other": (RIGHT, WRONG), "another": (LONG, WRONG)}
    path = write_bench(first, "second", answers, keys='use_cases = ["runs/first-judges"]\n')
    summary = bench_judges(load_settings(path))
    [beside] = summary.board.elsewhere
    assert (beside.comparisons, beside.systems) == ([], [])
    says(beside.why_not)
    # Every judge puts right answers above wrong ones there; here too, so nothing is reversed.
    n = len(summary.board.standings)
    assert beside.judges.n_pairs == n * (n - 1) // 2
    assert (beside.judges.reversed, beside.judges.tau.low) == ([], None)


@pytest.mark.long
@pytest.mark.parametrize(
    ("keys", "says"),
    [
        (
            'use_cases = ["runs/none-judges"]\n',
            "runs/none-judges holds no bench.json. Name the folder of a finished bench",
        ),
        ('use_cases = ["runs/second-judges"]\n', "is the folder of this bench itself"),
        ('use_cases = ["first.jsonl"]\n', "first.jsonl holds no bench.json"),
        ('use_cases = "runs/first-judges"\n', "use_cases"),
    ],
)
def test_a_use_case_that_is_none_is_refused_before_anything_is_judged(first, keys, says):
    path = write_bench(first, "second", GOOD_IS_SHORT, keys=keys)
    for more in ([], ["--forecast"]):
        ran = ragstone("bench", "judges", "--config", path, *more)
        assert (ran.code, ran.out) == (2, "")
        assert says in ran.err
    assert not (first / "runs/second-judges").exists()


def test_a_use_case_of_another_metric_is_refused(first, says):
    numbers = first / "runs/first-judges/bench.json"
    numbers.write_text(numbers.read_text().replace('"metric": "correctness"', '"metric": "completeness"'))
    path = write_bench(first, "second", GOOD_IS_SHORT, keys='use_cases = ["runs/first-judges"]\n')
    ran = ragstone("bench", "judges", "--config", path)
    assert ran.code == 2
    says(ran.err)


def test_a_use_case_without_its_judgements_is_told(first):
    for file in (first / "runs/first-judges").glob("judgements-*"):
        file.unlink()
    path = write_bench(first, "second", GOOD_IS_SHORT, keys='use_cases = ["runs/first-judges"]\n')
    ran = ragstone("bench", "judges", "--config", path)
    assert (ran.code, "judgements-01-containment.jsonl" in ran.err) == (2, True)


@pytest.mark.pack
@pytest.mark.simulation
def test_orders_of_five_systems_that_answered_trivia_are_those_of_the_docs(shared_data, folder):
    (folder / "ragstone.toml").write_text(
        f'[bench.judges]\nsheet = "{shared_data}/evouna/tq600.jsonl"\nmeasure = "Spearman"\n'
        'judges = ["containment", "coverage", "token_f1"]\n'
    )
    page = (Path(__file__).parents[4] / "docs/explanation/bench-judges.md").read_text()
    part = page.partition("## Does the order of the systems hold?")[2].partition("```text\n")[2]
    told = [line.rstrip() for line in part.partition("```")[0].splitlines() if line]
    ran = ragstone("bench", "judges", "--all")
    printed = [line.rstrip() for line in ran.out.splitlines()]
    assert len(told) == 10
    assert [line for line in told if line not in printed] == []


def test_a_bench_that_was_moved_is_read_where_it_is(first):
    shutil.move(first / "runs/first-judges", first / "moved")
    path = write_bench(first, "second", GOOD_IS_SHORT, keys='use_cases = ["moved"]\n')
    assert bench_judges(load_settings(path)).board.elsewhere[0].name == "moved"
