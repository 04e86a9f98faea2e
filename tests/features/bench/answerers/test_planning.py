import msgspec
import pytest

from ragstone.features.bench.answerers._planning import AnswerRows, all_at_once, plan_answerers
from ragstone.kernel.config import AnswerersBench, AnswerSection, BenchSection, HttpSystem, Settings
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Answer, Question


def planned(systems=(), answer=None, **keys):
    grid = AnswerersBench(**{"models": ["openai/a", "openai/b"], "prompts": ["strict", "bare"], **keys})
    grid = msgspec.structs.replace(grid, systems=list(systems))
    declared = {name: HttpSystem(url="http://localhost:1") for name in systems}
    return plan_answerers(
        Settings(bench=BenchSection(answerers=grid), systems=declared, answer=answer or AnswerSection())
    )


def names(grid):
    return [cell.name for cell in grid.cells]


def test_every_model_with_every_prompt_under_every_condition_by_condition():
    assert names(planned(conditions=["gold", "retrieved"])) == [
        f"{model} · {prompt} · {condition}"
        for condition in ("gold", "retrieved")
        for model in ("a", "b")
        for prompt in ("strict", "bare")
    ]


def test_names_leave_out_what_all_have_in_common():
    assert names(planned(models=["openai/a"], prompts=["bare"], conditions=["gold", "none"])) == [
        "gold",
        "none",
    ]
    assert names(planned(models=["openai/a"], conditions=["gold"])) == ["strict · gold", "bare · gold"]
    same = planned(models=["openai/a", "litellm/a"], prompts=["bare"], conditions=["gold"])
    assert names(same) == ["openai/a · gold", "litellm/a · gold"]
    assert [cell.label for cell in same.cells] == ["openai/a", "litellm/a"]


def test_closed_book_is_there_once_for_each_model():
    assert names(planned(conditions=["none"])) == ["a · none", "b · none"]
    assert {cell.prompt for cell in planned(conditions=["none"]).cells} == {"closed_book"}


def test_defaults_are_those_of_the_table_answer():
    answer = AnswerSection(model="openai/c", prompt="bare")
    grid = planned(models=[], prompts=[], conditions=["gold"], answer=answer)
    [cell] = grid.cells
    assert (cell.model, cell.prompt, cell.name) == ("openai/c", "bare", "gold")


def test_what_is_named_twice_is_there_once():
    twice = {"models": ["openai/a"] * 2, "prompts": ["bare"] * 2, "conditions": ["gold"] * 2}
    assert names(planned(**twice)) == ["gold"]


def test_systems_stand_beside_what_was_retrieved():
    conditions = ["gold", "retrieved"]
    grid = planned(systems=["mine"], models=["openai/a"], prompts=["bare"], conditions=conditions)
    assert [(cell.name, cell.condition, cell.is_system) for cell in grid.cells] == [
        ("gold", "gold", False),
        ("retrieved", "retrieved", False),
        ("mine", "retrieved", True),
    ]


def test_systems_alone_need_no_model():
    grid = planned(systems=["mine"], models=[], prompts=[])
    assert (names(grid), grid.conditions) == (["mine"], ["retrieved"])


def test_system_that_is_named_as_a_cell_is_refused(says):
    with pytest.raises(ConfigError) as error:
        planned(systems=["gold"], models=["openai/a"], prompts=["bare"], conditions=["gold"])
    says(error.value)
    # Under one heading two rows would be called alike.
    with pytest.raises(ConfigError) as error:
        planned(systems=["a"], models=["openai/a", "openai/b"], prompts=["bare"], conditions=["retrieved"])
    says(error.value)


def test_two_prompts_of_one_name_are_refused(tmp_path, says):
    (tmp_path / "mine.toml").write_text('name = "bare"\nversion = 1\nprompt = "{question} {contexts}"\n')
    with pytest.raises(ConfigError) as error:
        planned(prompts=["bare", str(tmp_path / "mine.toml")])
    says(error.value)


def test_default_gives_out_everything_at_once():
    questions = [Question(id="q", question="?")]
    cells = planned(conditions=["gold"]).cells
    next_round = all_at_once(cells, questions)
    first = next_round(0, {})
    assert (first.cells, first.questions) == (cells, questions)
    assert next_round(1, {}) is None


def test_rows_of_rounds_are_put_one_after_the_other():
    one = AnswerRows(answers=[Answer(question_id="1", answer="a")])
    other = AnswerRows(answers=[Answer(question_id="2", answer="b")])
    assert [row.question_id for row in (one + other).answers] == ["1", "2"]


def test_temperatures_are_one_more_axis_and_are_named_where_there_are_several():
    grid = planned(models=["openai/a"], prompts=["bare"], conditions=["gold"], temperatures=[0, 0.1])
    assert names(grid) == ["temperature 0 · gold", "temperature 0.1 · gold"]
    assert [cell.temperature for cell in grid.cells] == [0, 0.1]
    alone = planned(models=["openai/a"], prompts=["bare"], conditions=["gold"], temperatures=[0.1])
    assert (names(alone), alone.cells[0].temperature) == (["gold"], 0.1)
