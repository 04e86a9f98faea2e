from collections.abc import Callable, Mapping

import pytest

from ragstone.config import Condition
from ragstone.errors import ConfigError
from ragstone.experiments.answer_board import AnswerCell
from ragstone.flows.bench_answerers.planning import AnswerGrid, AnswerRows, Round
from ragstone.flows.bench_answerers.racing import AnswerRace, race_condition
from ragstone.records import Answer, Judgement, Question, Usage

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
        Judgement(
            question_id=q.id,
            system=one.name,
            judge="grades",
            metric="correctness",
            status="unparsable" if score is None else "scored",
            score=score,
            scale=(0, 4),
            model="m",
            prompt_version=1,
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


def test_it_races_under_retrieved_else_the_first_condition_with_two():
    both = [cell(model, condition) for condition in ("gold", "retrieved") for model in "ab"]
    assert race_condition(grid(*both)) == "retrieved"
    assert race_condition(grid(*both[:2], cell("a", "retrieved"))) == "gold"
    with pytest.raises(ConfigError, match="nobody to race against"):
        race_condition(grid(cell("a"), cell("a", "gold")))


def test_the_rounds_are_the_same_for_the_same_seed():
    def ids(seed: int) -> list[str]:
        now = AnswerRace(grid(cell("a"), cell("b")), QUESTIONS, {}, seed=seed)(0, {})
        assert isinstance(now, Round)
        return [question.id for question in now.questions]

    assert ids(0) == ids(0) != ids(1)
