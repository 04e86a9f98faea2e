"""A board whose places people's labels decide: no taste of the judge moves them."""

import msgspec
import numpy as np
import pytest
from tests.features.bench.answerers.test_words import bench
from tests.support.answer_rows import cell, grid_of, judged, questions_of
from tests.support.surfaces import page_text, shown

from ragstone.features.bench._board import turned
from ragstone.features.bench.answerers._basis import basis_text
from ragstone.features.bench.answerers._board import BoardInput, compare_cells, make_board
from ragstone.features.bench.answerers._conditions import Passages
from ragstone.features.bench.answerers._labels import CellLabels, correct_tests, read_labels
from ragstone.features.bench.answerers._planning import AnswerRows
from ragstone.features.bench.answerers._race import after_round, next_round, raced, standing, start_race
from ragstone.features.bench.answerers._sentences import bests
from ragstone.features.bench.answerers._values import RaceReport, Saved
from ragstone.features.bench.answerers.words import answer_bench_document
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging import load_judge
from ragstone.kernel.records import Label

N = 60


def right(n, of=N):
    return [1.0 if at < n else 0.0 for at in range(of)]


def flattered(truth, n):
    """Return the scores of a judge that also calls the first n wrong answers right."""
    wrong = [at for at, grade in enumerate(truth) if not grade][:n]
    return [1.0 if at in wrong else grade for at, grade in enumerate(truth)]


def labelled(of_cell, every=1):
    labels = {
        name: [
            Label(question_id=f"q{at}", system=name, score=grade)
            for at, grade in enumerate(truth)
            if at % every == 0
        ]
        for name, truth in of_cell.items()
    }
    return CellLabels(file="labels.jsonl", of_cell=labels)


def board(scores, labels=None, *, conditions=None):
    """Return the board of cells judged by `contained` (0 and 1). scores: cell -> scores."""
    conditions = conditions or {}
    rows = {name: judged(name, contained=of) for name, of in scores.items()}
    cells = [cell(name, model=name, condition=conditions.get(name, "gold")) for name in scores]
    return make_board(
        BoardInput(
            grid=grid_of(*cells),
            rows=rows,
            failed=(),
            questions=questions_of(max(map(len, scores.values()))),
            passages=Passages(documents={}, chunks={}, chunks_of={}),
            files=dict.fromkeys(rows, "judgements.jsonl"),
            labels=labels,
        )
    )


def places(of):
    return [(row.cell.name, row.verdict) for row in of.standings]


TRUTH = {"plain": right(40), "flattered": right(40)[::-1]}
SEEN = {"plain": TRUTH["plain"], "flattered": flattered(TRUTH["flattered"], 18)}


def test_a_judge_that_flatters_one_cell_makes_it_the_best_until_people_say_so(says):
    in_its_eyes = board(SEEN)
    assert places(in_its_eyes) == [("flattered", "best"), ("plain", "worse")]
    corrected = board(SEEN, labelled(TRUTH))
    assert [verdict for _, verdict in places(corrected)] == ["best", "not distinguishable"]
    [test] = corrected.comparisons
    # 58 of 60 right in the judge's eyes against 40; people call 40 of both right.
    assert test.difference.value == pytest.approx(0)
    assert abs(test.judged.value) == pytest.approx(18 / 60)
    assert abs(test.flattery.value) == pytest.approx(18 / 60)
    assert (test.test, test.n_labelled, test.verdict) == ("prediction-powered", 60, "cannot tell")
    for each in (in_its_eyes, corrected):
        says(bests(each)[0])
        says(basis_text(each))


def test_people_find_the_better_one_that_the_judge_hides(says):
    truth = {"good": right(54), "poor": right(20)}
    hidden = {"good": right(30), "poor": flattered(truth["poor"], 30)}
    assert places(board(hidden)) == [("poor", "best"), ("good", "worse")]
    corrected = board(hidden, labelled(truth, every=2))
    assert places(corrected) == [("good", "best"), ("poor", "worse")]
    good, poor = corrected.standings
    assert poor.comparison.first == "good"
    assert poor.comparison.difference.low > 0
    assert good.people.value > poor.people.value
    says(bests(corrected)[0])
    says(basis_text(corrected))


def test_where_all_is_labelled_the_mean_is_that_of_the_labels():
    [first, second] = board(SEEN, labelled(TRUTH)).standings
    assert first.people.value == second.people.value == pytest.approx(40 / 60)


def test_a_cell_without_labels_has_no_place_among_those_that_have_some(says):
    scores = {**SEEN, "third": right(60)}
    corrected = board(scores, labelled(TRUTH))
    assert corrected.standings[-1].verdict == "no labels"
    assert corrected.standings[-1].cell.name == "third"
    assert {test.n_labelled for test in corrected.comparisons} == {60, 0}
    assert all(test.verdict == "cannot tell" for test in corrected.comparisons)
    says(bests(corrected)[0])


def test_labels_of_one_condition_leave_the_others_in_the_judges_eyes(says):
    scores = {"a": right(55), "b": right(10), "c": right(55), "d": right(10)}
    conditions = {"c": "none", "d": "none"}
    truth = {"a": right(55), "b": right(10)}
    corrected = board(scores, labelled(truth), conditions=conditions)
    assert corrected.labels.conditions == ["gold"]
    assert [row.comparison.n_labelled for row in corrected.standings if row.comparison] == [60, None]
    for sentence in [*bests(corrected), basis_text(corrected)]:
        says(sentence)


def test_a_cell_whose_difference_is_exchanged_has_all_numbers_the_other_way_round():
    [test] = board(SEEN, labelled(TRUTH)).comparisons
    other = turned(test)
    assert (other.first, other.second) == (test.second, test.first)
    assert other.judged.value == -test.judged.value
    assert other.flattery.value == -test.flattery.value


def test_nothing_compared_says_nothing_of_a_taste():
    assert basis_text(board({"alone": right(30)})) == ""


def test_kin_of_the_judge_are_named_where_others_are_none(says):
    def of(models, judge="openai/gpt-4o"):
        made = board({name: right(30 + at) for at, name in enumerate(models)})
        roles = [msgspec.structs.replace(role, model=judge) for role in made.roles]
        return basis_text(msgspec.structs.replace(made, roles=roles))

    says(of(["openai/gpt-4o-mini", "anthropic/claude-haiku"]))
    assert "family" not in of(["openai/gpt-4o-mini", "openai/gpt-4.1"])
    assert "family" not in of(["anthropic/claude-haiku", "mistral/mistral-small"])
    assert "family" not in of(["openai/gpt-4o-mini", "anthropic/claude-haiku"], judge="own/model-x")


def test_what_labels_cost_is_said_and_is_no_more_than_all_questions(says):
    few = board({"a": right(20, 40), "b": right(22, 40)})
    many = board({"a": right(200, 400), "b": right(220, 400)})
    says(basis_text(few))
    says(basis_text(many))


def test_page_and_terminal_show_people_and_judge_side_by_side(says):
    summary = msgspec.structs.replace(bench(), board=board(SEEN, labelled(TRUTH)))
    page = page_text(answer_bench_document(summary))
    assert "People would give" in page
    says(page[page.index("# Cell Verdict") : page.index("Correct: containment")])
    says(shown(answer_bench_document(summary)))
    bare = page_text(answer_bench_document(msgspec.structs.replace(summary, board=board(SEEN))))
    assert "People would give" not in bare


def flattering(rng, n=300):
    """Return what a judge says of two equally good systems, and what people say.

    Both are right in 70 %; of wrong answers the judge calls 5 % of the first and 25 % of the second right, of
    right ones 95 %.
    """
    truth = {name: (rng.random(n) < 0.7).astype(float) for name in ("a", "b")}
    said = {
        name: np.where(truth[name] == 1, rng.random(n) < 0.95, rng.random(n) < lenient).astype(float)
        for name, lenient in (("a", 0.05), ("b", 0.25))
    }
    return truth, said


def judgements_of(said):
    return {name: judged(name, contained=list(of)).judgements for name, of in said.items()}


@pytest.mark.long
def test_of_two_equal_systems_a_flattered_one_is_seldom_better():
    """The judge's own test calls one better in a third of benches; with 100 labelled pairs in few."""
    rng = np.random.default_rng(5)
    raw = corrected = 0
    for _ in range(60):
        truth, said = flattering(rng)
        scores = {name: {f"q{at}": value for at, value in enumerate(of)} for name, of in said.items()}
        tests = compare_cells(scores, [("a", "b")], {})
        drawn = rng.choice(300, size=100, replace=False)
        labels = CellLabels(
            file="labels.jsonl",
            of_cell={
                name: [Label(question_id=f"q{at}", system=name, score=of[at]) for at in drawn]
                for name, of in truth.items()
            },
        )
        raw += tests[0].verdict != "cannot tell"
        corrected += correct_tests(tests, judgements_of(said), labels, {})[0].verdict != "cannot tell"
    assert raw >= 12
    assert corrected <= 6  # 3 expected of 60, both sides together


def race_of(said, truth, every=1):
    """Return the board of a race by what a judge says, with people's labels of what was answered."""
    names = list(said)
    questions = [f"q{at}" for at in range(len(said[names[0]]))]
    race = start_race(names, questions, seed=1)
    while given := next_round(race):
        race = after_round(
            race, {name: {one: float(said[name][int(one[1:])]) for one in given} for name in standing(race)}
        )
    asked = {name: [*race.scores[name]] for name in names}
    rows = {
        name: AnswerRows(
            answers=[row for row in whole.answers if row.question_id in asked[name]],
            judgements=[row for row in whole.judgements if row.question_id in asked[name]],
        )
        for name, whole in ((name, judged(name, contained=list(said[name]))) for name in names)
    }
    report = RaceReport(
        condition="gold",
        measure="correctness",
        confidence=0.95,
        n_questions=len(questions),
        n_given=sum(race.rounds),
        rounds=list(race.rounds),
        standing=standing(race),
        stopped=list(race.stopped),
        failed=[],
        saved=[
            Saved(
                cell=name,
                n_given=len(ids),
                n_questions=len(questions),
                calls=0,
                calls_spared=0,
                usd=0,
                usd_spared=0,
            )
            for name, ids in asked.items()
        ],
    )
    labels = CellLabels(
        file="labels.jsonl",
        of_cell={
            name: [
                Label(question_id=one, system=name, score=float(truth[name][int(one[1:])]))
                for one in asked[name]
                if int(one[1:]) % every == 0
            ]
            for name in names
        },
    )
    made = make_board(
        BoardInput(
            grid=grid_of(*(cell(name, model=name) for name in names)),
            rows=rows,
            failed=(),
            questions=questions_of(len(questions)),
            passages=Passages(documents={}, chunks={}, chunks_of={}),
            files=dict.fromkeys(rows, "judgements.jsonl"),
            labels=labels,
        )
    )
    return raced(made, report)


def test_of_a_race_those_who_were_asked_everything_are_compared_by_labels(says):
    shuffled = np.random.default_rng(0).permutation(120)
    truth = {"a": np.array(right(100, 120))[shuffled], "b": np.array(right(60, 120))[shuffled]}
    truth["c"] = np.zeros(120)
    said = {**truth, "b": np.array(right(96, 120))[shuffled]}  # it flatters b, whom the race keeps so
    left = race_of(said, truth, every=2)
    assert places(left) == [("a", "best"), ("b", "worse"), ("c", "stopped")]
    [test] = left.comparisons
    assert (test.first, test.second, test.n_labelled, test.family) == ("a", "b", 60, 3)
    assert left.standings[-1].comparison is None
    assert left.standings[-1].people is None  # it had so few questions because its scores were low
    says(bests(left)[0])
    says(basis_text(left))


def test_one_that_the_judge_stopped_is_never_called_worse_by_labels():
    """It hides that c is as good as the others: c stops, and no label of its few answers says it is worse."""
    shuffled = np.random.default_rng(0).permutation(120)
    truth = {name: np.array(right(90, 120))[shuffled] for name in "abc"}
    said = {**truth, "c": np.array(right(30, 120))[shuffled]}
    left = race_of(said, truth)
    assert dict(places(left)) == {"a": "best", "b": "not distinguishable", "c": "stopped"}
    assert all("c" not in (test.first, test.second) for test in left.comparisons)


RULES = grid_of(cell("plain", model="plain"), cell("flattered", model="flattered"))
JUDGES = [load_judge("correctness")]


def write(path, rows):
    path.write_bytes(b"\n".join(map(msgspec.json.encode, rows)))
    return path


@pytest.mark.parametrize(
    "rows",
    [
        [Label(question_id="q1", system="other", score=1), Label(question_id="q1", system="more", score=1)],
        [Label(question_id="q1", system="plain", score=1), Label(question_id="q2", system="plain", score=1)],
        [
            Label(question_id="q1", system="plain", score=1),
            Label(question_id="q2", system="flattered", score=1),
        ],
        [Label(question_id="x1", system=name, score=1) for name in TRUTH],
        [Label(question_id="q1", system=name, score=1, metric="tone") for name in TRUTH],
    ],
    ids=["third system", "one side", "no common question", "other questions", "another metric"],
)
def test_labels_that_correct_nothing_are_refused_before_anything_is_asked(rows, tmp_path, says):
    with pytest.raises(DataError) as mistake:
        read_labels(write(tmp_path / "labels.jsonl", rows), RULES, {"q1", "q2"}, JUDGES, {})
    says(mistake.value)


def test_labels_need_a_judge_that_they_can_correct(tmp_path, says):
    rows = [Label(question_id="q1", system=name, score=1) for name in TRUTH]
    with pytest.raises(ConfigError) as mistake:
        read_labels(write(tmp_path / "labels.jsonl", rows), RULES, {"q1"}, [load_judge("relevance")], {})
    says(mistake.value)


def test_labels_of_other_systems_in_the_file_are_counted_and_left_out(tmp_path):
    rows = [Label(question_id="q1", system=name, score=1) for name in (*TRUTH, "elsewhere")]
    labels = read_labels(write(tmp_path / "labels.jsonl", rows), RULES, {"q1"}, JUDGES, {"correctness": 50})
    assert (set(labels.of_cell), labels.n_elsewhere, labels.threshold) == (
        {"plain", "flattered"},
        1,
        {"correctness": 50},
    )
