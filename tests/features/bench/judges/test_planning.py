import msgspec
import pytest
from tests.support.known_judges import JUDGE

from ragstone.features.bench.judges.planning import models_asked, plan_judges
from ragstone.kernel.config import BenchSection, JudgesBench, JudgeSection, Settings
from ragstone.kernel.errors import ConfigError, ModelError

RUBRIC = """
name       = "graded"
version    = 1
metric     = "correctness"
kind       = "rubric"
inputs     = ["reference", "answer"]
scale      = [0, 2]
source     = "made for tests"
prompt     = "Grade {answer} by {reference}."

[[criteria]]
name        = "right"
description = "Is it right?"
grades      = ["no", "partly", "yes"]
"""

JURY = """
name    = "jury"
version = 1
metric  = "correctness"
kind    = "jury"
inputs  = ["question", "reference", "answer"]
scale   = [0, 1]
source  = "made for tests"
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "mine.toml").write_text(JUDGE.replace("NAME", "mine"))
    (tmp_path / "graded.toml").write_text(RUBRIC)

    def planned(**keys):
        keys = {"judges": ["mine.toml"], "models": ["openai/a"], **keys}
        return plan_judges(Settings(bench=BenchSection(judges=JudgesBench(**keys)), root=str(tmp_path)))

    return planned


def asked(grid):
    return [cell.name for cell in grid.cells if not cell.added]


def test_grid_is_every_combination_each_once(plan):
    grid = plan(models=["openai/a", "openai/b"], shots=[0, 1], prompts=["own", "strict"])
    variants = ["mine@shots=0", "mine@shots=0,prompt=strict", "mine", "mine@prompt=strict"]
    assert asked(grid) == [f"{name} · openai/{model}" for name in variants for model in "ab"]
    assert {cell.shots for cell in grid.cells if cell.model != "none"} == {0, 1}


def test_one_model_is_not_in_the_names(plan):
    assert asked(plan()) == ["mine"]
    assert plan().cells[0].model == "openai/a"


def test_way_of_the_file_is_no_variant(plan):
    grid = plan(judges=["graded.toml"], scales=["own", "0-2", "0-10"], temperatures=[0, 0.7], shots=[0])
    assert asked(grid) == [
        "graded",
        "graded@temperature=0.7",
        "graded@scale=0-10",
        "graded@scale=0-10,temperature=0.7",
    ]
    assert [cell.temperature for cell in grid.cells[:2]] == [0.0, 0.7]
    assert grid.cells[2].scale == (0, 10)


def test_what_a_judge_cannot_do_is_left_out_with_the_reason(plan, says):
    grid = plan(judges=["mine.toml", "graded.toml"], scales=["own", "0-10"], shots=[0, 5], prompts=["own"])
    assert asked(grid) == ["mine@shots=0", "graded", "graded@scale=0-10"]
    reasons = {one.name: one.reason for one in grid.left_out}
    assert "not a rubric" in reasons["mine@scale=0-10,shots=0"]
    says(reasons["mine@shots=5"])
    assert set(reasons) == {
        "mine@shots=5",
        "mine@scale=0-10,shots=0",
        "mine@scale=0-10,shots=5",
        "graded@shots=5",
        "graded@scale=0-10,shots=5",
    }


def test_nothing_left_is_an_error_with_the_reasons(plan, says):
    with pytest.raises(ConfigError) as error:
        plan(shots=[7])
    says(error.value)


def test_what_a_name_says_stays_and_is_not_multiplied(plan):
    grid = plan(judges=["mine.toml@prompt=strict"], prompts=["own", "strict"], shots=[0, 1])
    assert asked(grid) == ["mine@shots=0,prompt=strict", "mine@prompt=strict"]
    assert {cell.prompt for cell in grid.cells if not cell.added} == {"strict"}


def test_variant_that_was_named_and_cannot_be_had_is_an_error(plan, says):
    with pytest.raises(ConfigError) as error:
        plan(judges=["mine.toml@prompt=stric"])
    says(error.value)


def test_samples_and_token_of_a_name_set_a_cell_apart(plan):
    [cell] = [each for each in plan(judges=["mine.toml@temperature=1,samples=3"]).cells if not each.added]
    assert cell.others == "samples=3"


def test_baselines_of_the_metric_are_there_once_and_ask_no_model(plan):
    grid = plan(models=["openai/a", "openai/b"], judges=["mine.toml", "containment"], shots=[0, 1])
    free = [cell.name for cell in grid.cells if cell.model == "none"]
    assert {"chrf", "containment", "rouge_l", "token_f1"} <= set(free)
    assert len(set(free)) == len(free)
    assert not next(cell for cell in grid.cells if cell.name == "containment").added
    assert {"token_f1", "mine", "mine@shots=0"} <= set(grid.judges)


def test_metric_is_what_all_judges_measure(plan, says):
    assert plan().metric == "correctness"
    with pytest.raises(ConfigError) as error:
        plan(judges=["mine.toml", "relevance"])
    says(error.value)
    with pytest.raises(ConfigError) as error:
        plan(judges=["mine.toml", "relevance"], metric="correctness")
    says(error.value)


def test_criterion_of_a_rubric_is_a_metric(plan):
    grid = plan(judges=["rubric"], metric="correctness")
    assert grid.metric == "correctness"
    assert "containment" in grid.judges


def test_model_of_the_judge_section_is_the_default(tmp_path, says):
    (tmp_path / "mine.toml").write_text(JUDGE.replace("NAME", "mine"))
    settings = Settings(
        judge=JudgeSection(model="openai/z"),
        bench=BenchSection(judges=JudgesBench(judges=["mine.toml"])),
        root=str(tmp_path),
    )
    assert plan_judges(settings).cells[0].model == "openai/z"
    with pytest.raises(ModelError) as error:
        plan_judges(msgspec.structs.replace(settings, judge=JudgeSection()))
    says(error.value)


def test_judge_whose_file_names_its_models_is_there_once_and_needs_no_other(plan, tmp_path):
    members = "".join(f'[[members]]\njudge = "mine.toml"\nmodel = "openai/{name}"\n' for name in "abc")
    (tmp_path / "jury.toml").write_text(JURY + members)
    for models in ([], ["openai/x", "openai/y"]):
        grid = plan(judges=["jury.toml"], models=models)
        [cell] = [each for each in grid.cells if not each.added]
        asked = ["openai/a", "openai/b", "openai/c"]
        assert (cell.name, cell.model) == ("jury", " + ".join(asked))
        assert models_asked(grid.judges["jury"], cell) == asked
    with pytest.raises(ModelError):
        plan(judges=["mine.toml", "jury.toml"], models=[])


def test_threshold_holds_for_variants_on_the_same_scale(plan):
    grid = plan(
        judges=["graded.toml"],
        scales=["own", "0-10"],
        temperatures=[0, 1],
        thresholds={"graded": 1, "graded@scale=0-10": 6},
    )
    assert {cell.name: cell.threshold for cell in grid.cells if not cell.added} == {
        "graded": 1,
        "graded@temperature=1": 1,
        "graded@scale=0-10": 6,
        "graded@scale=0-10,temperature=1": None,
    }


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"judges": []}, "judges is empty"),
        ({"thresholds": {"min": 1.0}}, "no judge 'min' here. Did you mean 'mine'"),
        ({"thresholds": {"mine": 1.0}, "mapping": {"0": 0.0, "1": 1.0}}, "give one of the two"),
        ({"thresholds": {"mine": 5000.0}}, "threshold 5000 of judge 'mine': its scale is 0 to 1"),
        ({"thresholds": {"mine": float("nan")}}, "threshold nan of judge 'mine'"),
        ({"judges": ["pairwise"]}, "compares two answers"),
    ],
)
def test_grid_that_cannot_be_is_refused(plan, keys, says):
    with pytest.raises(ConfigError, match=says):
        plan(**keys)


def test_two_judges_of_one_name_are_refused(plan, tmp_path, says):
    (tmp_path / "other.toml").write_text(
        JUDGE.replace("NAME", "mine").replace("Is {answer}", "Say if {answer}")
    )
    with pytest.raises(ConfigError) as error:
        plan(judges=["mine.toml", "other.toml"])
    says(error.value)
