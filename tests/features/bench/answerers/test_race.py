from collections.abc import Callable, Mapping

import msgspec
import numpy as np
import pytest
from benchmarks.races import Setting, one_clear, right_or_wrong, simulate
from hypothesis import given, settings
from hypothesis.strategies import floats, integers, lists, none
from tests.support.plain_rows import judgement_row

from ragstone.features.bench.answerers._planning import AnswerGrid, AnswerRows, QuestionRound
from ragstone.features.bench.answerers._race import (
    AnswerRace,
    Race,
    after_round,
    next_round,
    race_condition,
    standing,
    start_race,
    withdraw,
)
from ragstone.features.bench.answerers._values import AnswerCell
from ragstone.kernel.config import Condition
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Answer, Question, Usage


def questions_of(n: int, size: int = 1) -> tuple[list[str], dict[str, str]]:
    return [f"q{at}" for at in range(n)], {f"q{at}": f"d{at // size}" for at in range(n)}


def run(race: Race, scores: dict[str, dict[str, float | None]]) -> Race:
    while given := next_round(race):
        race = after_round(race, {name: {one: scores[name][one] for one in given} for name in standing(race)})
    return race


def constant(names: str, n: int, **scores: float | None) -> dict[str, dict[str, float | None]]:
    return {name: {f"q{at}": scores[name] for at in range(n)} for name in names}


def test_one_that_is_always_wrong_stops_against_one_that_is_always_right():
    # Each question multiplies the capital of bet b by 1 + b. Two configurations: (2 - 1) / 0.05 = 20 is
    # needed. After the first round of 10 the mean of (1 + b)^10 is above 100, so it stops there.
    race = run(start_race("ab", *questions_of(100)), constant("ab", 100, a=1.0, b=0.0))
    assert standing(race) == ["a"]
    stopped = race.stopped[0]
    assert (stopped.configuration, stopped.against, stopped.after, stopped.round) == ("b", "a", 10, 1)
    assert (stopped.difference, stopped.n_pairs, stopped.n_left_out) == (-1, 10, 0)
    assert stopped.high < 0
    assert stopped.doubt <= 0.05
    assert race.rounds == (10,)


def test_the_doubt_is_one_over_the_evidence_times_the_rivals():
    race = run(start_race("abc", *questions_of(40)), constant("abc", 40, a=1.0, b=1.0, c=0.0))
    capital = np.mean([(1 + bet) ** 10 for bet in np.arange(1, 11) / 11])
    assert race.stopped[0].doubt == pytest.approx(2 / capital)


def test_more_rivals_need_more_evidence():
    # 0.3 apart on each question: after 22 the mean of (1 + 0.3 b)^22 over the bets is 52: enough for two,
    # who need 20, and not for twelve, who need 11 * 20.
    two = run(start_race("ab", *questions_of(22)), constant("ab", 22, a=0.6, b=0.3))
    names = "abcdefghijkl"
    level = dict.fromkeys(names, 0.6) | {"b": 0.3}
    twelve = run(start_race(names, *questions_of(22)), constant(names, 22, **level))
    assert standing(two) == ["a"]
    assert standing(twelve) == list(names)


def test_more_confidence_needs_more_questions():
    scores = constant("ab", 200, a=0.6, b=0.3)
    after = [
        run(start_race("ab", *questions_of(200), confidence=confidence), scores).stopped[0].after
        for confidence in (0.8, 0.95, 0.999)
    ]
    assert after == sorted(after)
    assert after[0] < after[2]


def test_those_that_cannot_be_told_apart_are_all_asked_everything():
    race = run(start_race("abc", *questions_of(50)), constant("abc", 50, a=0.5, b=0.5, c=0.5))
    assert standing(race) == ["a", "b", "c"]
    assert sum(race.rounds) == 50
    assert all(len(known) == 50 for known in race.scores.values())


def test_rounds_grow_and_hold_whole_documents():
    race = start_race("ab", *questions_of(64, size=4), first=10, growth=1.5)
    sizes = []
    while given := next_round(race):
        documents = {one: int(one[1:]) // 4 for one in given}
        assert sorted(documents.values()) == sorted(4 * list(set(documents.values())))
        sizes.append(len(given))
        race = after_round(race, {name: dict.fromkeys(given, 1.0) for name in "ab"})
    # At least 10, 15, 22.5: the next multiples of 4; what is left is 12.
    assert sizes == [12, 16, 24, 12]


def test_the_order_is_shuffled_by_seed():
    first = [next_round(start_race("ab", *questions_of(100), seed=seed)) for seed in (0, 0, 1)]
    assert first[0] == first[1] != first[2]
    assert first[0] != [f"q{at}" for at in range(10)]


def test_questions_of_one_document_count_as_one_observation():
    # Ten questions of one document tell no more than one: (1 + b) on average is far from 20.
    race = after_round(
        start_race("ab", *questions_of(20, size=10)),
        {"a": {f"q{at}": 1.0 for at in range(20)}, "b": {f"q{at}": 0.0 for at in range(20)}},
    )
    assert standing(race) == ["a", "b"]


def test_rows_without_a_score_are_left_out_of_pairs_and_counted():
    scores = constant("ab", 40, a=1.0, b=0.0)
    order = [one for document in start_race("ab", *questions_of(40)).documents for one in document]
    for one in order[:3]:
        scores["b"][one] = None
    stopped = run(start_race("ab", *questions_of(40)), scores).stopped[0]
    assert (stopped.after, stopped.n_pairs, stopped.n_left_out) == (10, 7, 3)


def test_one_that_never_has_a_score_never_stops_and_stops_nobody():
    race = run(start_race("abc", *questions_of(60)), constant("abc", 60, a=1.0, b=0.0, c=None))
    assert standing(race) == ["a", "c"]
    assert race.stopped[0].against == "a"


def test_not_all_stop_where_missing_scores_make_a_circle():
    # a beats b on the first third, b beats c on the second, c beats a on the last; nobody else has scores.
    names, n = "abc", 90
    scores: dict[str, dict[str, float | None]] = {name: {} for name in names}
    for at in range(n):
        first, second, third = (("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b"))[at % 3]
        scores[first][f"q{at}"], scores[second][f"q{at}"], scores[third][f"q{at}"] = 1.0, 0.0, None
    assert len(standing(run(start_race(names, *questions_of(n), first=90), scores))) == 1


def test_a_score_out_of_range_is_an_error(says):
    with pytest.raises(ValueError) as error:
        run(start_race("ab", *questions_of(5)), constant("ab", 5, a=3.0, b=1.0))
    says(error.value)


def test_nothing_to_race_is_said(says):
    with pytest.raises(DataError) as error:
        start_race(["a"], ["q"])
    says(error.value)
    with pytest.raises(DataError) as error:
        start_race(["a", "a"], ["q"])
    says(error.value)
    with pytest.raises(DataError, match="needs questions"):
        start_race(["a", "b"], [])


def test_questions_without_a_document_stand_alone_whatever_they_are_called():
    race = start_race("ab", ["q0", "q1", "q2", "q3"], {"q0": "q3", "q1": "q3"})
    assert sorted(map(sorted, race.documents)) == [["q0", "q1"], ["q2"], ["q3"]]


def test_one_that_withdraws_is_asked_no_more_and_stops_nobody():
    scores = constant("abc", 60, a=1.0, b=0.0, c=0.0)
    started = start_race("abc", *questions_of(60), first=1)
    given = next_round(started)
    race = after_round(started, {name: {one: scores[name][one] for one in given} for name in "abc"})
    race = withdraw(race, ["a"])
    assert standing(race) == ["b", "c"]
    race = run(race, scores)
    assert standing(race) == ["b", "c"]
    assert race.stopped == ()
    assert len(race.scores["a"]) == 1


def test_the_last_one_standing_ends_it_also_where_the_others_withdraw():
    race = withdraw(start_race("ab", *questions_of(5)), ["b", "nobody"])
    assert race.withdrawn == ("b",)
    assert next_round(race) == []


@settings(max_examples=40, deadline=None)
@given(lists(lists(floats(0, 1) | none(), min_size=3, max_size=3), min_size=1, max_size=60), integers(1, 4))
def test_whatever_the_scores_the_race_ends_with_someone_and_forgets_nothing(rows, size):
    scores = {name: {f"q{at}": row[place] for at, row in enumerate(rows)} for place, name in enumerate("abc")}
    race = run(start_race("abc", *questions_of(len(rows), size)), scores)
    assert standing(race)
    assert len(standing(race)) + len(race.stopped) == 3
    asked = sum(race.rounds)
    for name in "abc":
        after = next((one.after for one in race.stopped if one.configuration == name), asked)
        assert len(race.scores[name]) == after
        assert all(scores[name][one] == score for one, score in race.scores[name].items())


def test_the_same_scores_give_the_same_race():
    rng = np.random.default_rng(0)
    scores = {name: {f"q{at}": float(rng.random()) for at in range(80)} for name in "abc"}
    once, again = (run(start_race("abc", *questions_of(80), seed=3), scores) for _ in range(2))
    assert once.stopped == again.stopped
    assert once.rounds == again.rounds
    assert msgspec.json.encode(once.stopped) == msgspec.json.encode(again.stopped)


@pytest.mark.simulation
def test_the_best_is_kept_and_calls_are_saved_in_simulation():
    """The short version of benchmarks/races.py: 12 configurations, 300 questions."""
    clear = simulate(
        Setting(name="", means=one_clear(0.25), n_questions=300, draw=right_or_wrong), simulations=25
    )
    assert clear.kept >= 0.95
    assert clear.saved >= 0.4
    same = simulate(Setting(name="", means=[0.8] * 12, n_questions=200, draw=right_or_wrong), simulations=30)
    assert same.kept >= 0.95 - 3 * 0.04


QUESTIONS = [Question(id=f"q{at}", question="?", document_ids=[f"d{at}"]) for at in range(60)]
Score = Callable[[AnswerCell], float | None]


def cell(model: str, condition: Condition = "retrieved", prompt: str = "strict") -> AnswerCell:
    return AnswerCell(name=f"{model} {prompt} {condition}", model=model, prompt=prompt, condition=condition)


def grid(*cells: AnswerCell) -> AnswerGrid:
    return AnswerGrid(cells=list(cells), conditions=list(dict.fromkeys(one.condition for one in cells)))


def rows(one: AnswerCell, asked: list[Question], score: float | None) -> AnswerRows:
    answers = [
        Answer(question_id=q.id, answer="a", system=one.name, usage=Usage(input=5, output=5), cost_usd=0.5)
        for q in asked
    ]
    judgements = [
        judgement_row(
            question_id=q.id,
            system=one.name,
            judge="grades",
            status="unparsable" if score is None else "scored",
            score=score,
            scale=(0, 4),
            usage=Usage(calls=2),
            cost_usd=0.25,
        )
        for q in asked
    ]
    return AnswerRows(answers=answers, judgements=judgements)


def play(race: AnswerRace, score: Score, lose: Mapping[int, str] | None = None) -> dict[str, AnswerRows]:
    """Give out the rounds as the engine does. lose: round -> cell that fails in it."""
    so_far: dict[str, AnswerRows] = {}
    lost: set[str] = set()
    number = 0
    while (now := race(number, so_far)) is not None:
        lost |= {(lose or {}).get(number, "")}
        for one in now.cells:
            if one.name not in lost:
                so_far[one.name] = so_far.get(one.name, AnswerRows()) + rows(one, now.questions, score(one))
        so_far = {name: said for name, said in so_far.items() if name not in lost}
        number += 1
    return so_far


def by_model(**scores: float | None) -> Score:
    return lambda one: scores[one.model or one.name]


def test_scores_are_brought_to_0_to_1_by_the_scale_and_the_worse_one_stops():
    race = AnswerRace(grid(cell("a"), cell("b")), QUESTIONS, {})
    report = race.report(play(race, by_model(a=4, b=0)))
    assert report.standing == ["a strict retrieved"]
    assert report.measure == "correctness"
    # 4 of 4 against 0 of 4 is a whole point apart.
    assert report.stopped[0].difference == -1
    assert (report.n_given, report.n_questions, report.rounds) == (10, 60, [10])


def test_calls_and_money_that_were_spared_are_those_of_the_questions_not_given_out():
    race = AnswerRace(grid(cell("a"), cell("b")), QUESTIONS, {})
    saved = race.report(play(race, by_model(a=4, b=0))).saved[1]
    # 10 of 60 questions, each an answer with 1 call and a judgement with 2, for 0.5 + 0.25 USD.
    assert (saved.n_given, saved.calls, saved.calls_spared) == (10, 30, 150)
    assert (saved.usd, saved.usd_spared) == (7.5, 37.5)


def test_money_is_unknown_where_a_price_is():
    race = AnswerRace(grid(cell("a"), cell("b")), QUESTIONS, {})
    said = play(race, by_model(a=4, b=0))
    free = [Answer(question_id="q0", answer="a", usage=Usage())]
    assert race.report({"a strict retrieved": AnswerRows(answers=free)}).saved[0].usd_spared is None
    assert race.report(said).saved[0].usd_spared is not None


def test_the_same_under_other_conditions_stops_with_it():
    cells = [cell(model, condition) for model in "ab" for condition in ("retrieved", "gold")]
    closed = [cell(model, "none", "closed_book") for model in "ab"]
    race = AnswerRace(grid(*cells, *closed), QUESTIONS, {})
    said = play(race, by_model(a=3, b=1))
    n = {name: len(one.answers) for name, one in said.items()}
    assert n["b strict retrieved"] == n["b strict gold"] == n["b closed_book none"]
    assert n["a strict gold"] == n["a strict retrieved"]
    assert race.report(said).standing == ["a strict retrieved"]


def test_closed_book_goes_on_as_long_as_any_prompt_of_its_model():
    cells = [cell("a"), cell("b"), cell("b", prompt="bare"), cell("b", "none", "closed_book")]
    race = AnswerRace(grid(*cells), QUESTIONS, {})
    n = {
        name: len(one.answers)
        for name, one in play(
            race, lambda one: 1.0 if one.model == "b" and one.prompt == "strict" else 3.0
        ).items()
    }
    assert n["b strict retrieved"] < 60
    assert n["b bare retrieved"] == n["b closed_book none"] == 60


def test_a_system_races_and_has_no_like_under_other_conditions():
    system = AnswerCell(name="service", model=None, prompt=None, condition="retrieved")
    race = AnswerRace(grid(cell("a"), cell("a", "gold"), system), QUESTIONS, {})
    said = play(race, by_model(a=4, service=0))
    assert race.report(said).standing == ["a strict retrieved"]


def test_a_configuration_that_fails_leaves_the_race():
    race = AnswerRace(grid(cell("a"), cell("b"), cell("c")), QUESTIONS, {})
    said = play(race, by_model(a=3, b=3, c=3), lose={1: "c strict retrieved"})
    report = race.report(said)
    assert report.failed == ["c strict retrieved"]
    assert report.standing == ["a strict retrieved", "b strict retrieved"]
    assert [one.cell for one in report.saved] == ["a strict retrieved", "b strict retrieved"]


def test_rows_without_a_score_stop_nobody():
    race = AnswerRace(grid(cell("a"), cell("b"), cell("c")), QUESTIONS, {})
    report = race.report(play(race, by_model(a=4, b=None, c=4)))
    assert report.standing == ["a strict retrieved", "b strict retrieved", "c strict retrieved"]
    assert report.n_given == 60


def test_it_races_under_retrieved_else_the_first_condition_with_two(says):
    both = [cell(model, condition) for condition in ("gold", "retrieved") for model in "ab"]
    assert race_condition(grid(*both)) == "retrieved"
    assert race_condition(grid(*both[:2], cell("a", "retrieved"))) == "gold"
    with pytest.raises(ConfigError) as error:
        race_condition(grid(cell("a"), cell("a", "gold")))
    says(error.value)


def test_the_rounds_are_the_same_for_the_same_seed():
    def ids(seed: int) -> list[str]:
        now = AnswerRace(grid(cell("a"), cell("b")), QUESTIONS, {}, seed=seed)(0, {})
        assert isinstance(now, QuestionRound)
        return [question.id for question in now.questions]

    assert ids(0) == ids(0) != ids(1)
