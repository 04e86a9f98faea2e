import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.judging.variant import options_of

PLAIN = """\
name = "plain"
version = 3
kind = "boolean"
inputs = ["answer"]
scale = [0, 1]
source = "ours"
prompt = "Is {answer} plain?"

[prompts]
strict = "Is each word of {answer} plain?"
"""


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.toml"
    path.write_text(PLAIN)
    return path


@pytest.mark.parametrize("name", judge_names())
def test_a_name_without_options_is_the_file_as_it_is(name):
    assert load_judge(name).name == name


def test_a_variant_is_a_judge_of_its_own_that_measures_the_same():
    judge, varied = load_judge("rubric"), load_judge("rubric@scale=0-10")
    assert (varied.name, varied.measures, varied.version) == ("rubric@scale=0-10", "rubric", judge.version)
    assert (varied.scale, judge.scale) == ((0.0, 10.0), (0, 3))
    assert varied.metrics == judge.metrics


def test_options_are_named_in_one_order_whatever_was_typed():
    assert load_judge("rubric@shots=2, scale=1-5").name == "rubric@scale=1-5,shots=2"
    assert options_of("rubric@shots=2,scale=1-5") == ("rubric", {"scale": "1-5", "shots": "2"})


def test_each_option_changes_its_field(plain):
    def changed(options):
        before, after = load_judge(plain), load_judge(f"{plain}@{options}")
        pairs = zip(msgspec.structs.fields(before), before.__struct_fields__, strict=True)
        return {
            name: getattr(after, name)
            for _field, name in pairs
            if name not in ("name", "metric") and getattr(after, name) != getattr(before, name)
        }

    assert changed("prompt=strict") == {"prompt": "Is each word of {answer} plain?"}
    assert changed("token") == {"reply": "token"}
    assert changed("temperature=0.7,samples=5") == {"temperature": 0.7, "samples": 5}
    assert changed("shots=0") == {"shots": 0}


def test_scores_of_examples_move_with_the_scale():
    def scores(name):
        return [example.expected["correctness"] for example in load_judge(name).examples]

    assert scores("rubric") == [3, 1, 3, 0, 3, 2, 0]
    assert scores("rubric@scale=0-1") == [1, 0, 1, 0, 1, 1, 0]  # 1/3 is nearer to 0
    assert scores("rubric@scale=1-5") == [5, 2, 5, 1, 5, 4, 1]  # 1 + 4/3 = 2 1/3
    assert scores("rubric@scale=0-10") == [10, 3, 10, 0, 10, 7, 0]
    assert scores("rubric@scale=0-100") == [100, 33, 100, 0, 100, 67, 0]


@given(st.integers(-30, 30), st.integers(1, 60))
def test_on_any_scale_the_ends_stay_the_ends(low, width):
    judge = load_judge(f"rubric@scale={low}-{low + width}" if low + width >= 0 else "rubric")
    shown = [example.expected["correctness"] for example in judge.examples]
    assert (min(shown), max(shown)) == judge.scale


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("rubric@scal=0-10", "unknown option 'scal'. Did you mean 'scale'"),
        ("rubric@", "unknown option ''"),
        ("rubric@shots=1,shots=2", "shots is given twice"),
        ("rubric@criteria=corectness", "has no criterion 'corectness'. Did you mean 'correctness'"),
        ("rubric@criteria=", "write criteria=VALUE"),
        ("faithfulness@criteria=all", "criteria means nothing for a judge of kind statements"),
        ("faithfulness@empty=1", "empty='1'"),
        ("claims@empty=one", "empty is for a judge that checks an answer's statements"),
        ("rubric@empty=one", "empty means nothing for a judge of kind rubric"),
        ("rubric@shots", "write shots=VALUE"),
        ("answered@token=yes", "write token alone"),
        ("answered@verdict=yes", "write verdict alone"),
        ("answered@token,verdict", "token and verdict exclude each other"),
        ("containment@verdict", "verdict means nothing for a judge of kind lexical"),
        ("rubric@scale=10", "Write two whole numbers, e.g. scale=0-10"),
        ("rubric@scale=3-0", "give the lower score first"),
        ("rubric@scale=0-0.5", "Write two whole numbers"),
        ("correctness@scale=0-10", "is not a rubric: its scale is fixed"),
        ("rubric@shots=9", "shots=9, and its file holds 7"),
        ("rubric@shots=²", "is not a number that fits"),
        ("rubric@shots=-1", "out of range: give 0 or more"),
        ("relevance@temperature=3", "out of range: give from 0 to 2"),
        ("relevance@temperature=nan", "out of range"),
        ("relevance@samples=0", "out of range: give 1 or more"),
        ("relevance@samples=two", "is not a number that fits"),
        ("correctness@prompt=point", "has no prompt 'point'. Did you mean 'points'"),
        ("rubric@prompt=strict", "has one prompt only"),
        ("relevance@samples=3", "give a temperature"),
        ("rubric@token", "needs a rubric of one criterion"),
        ("correctnes@shots=1", "unknown judge 'correctnes'"),
    ],
)
def test_a_variant_that_cannot_be_is_met_with_the_fix(name, says):
    with pytest.raises(ConfigError) as caught:
        load_judge(name)
    assert says in str(caught.value)


def test_a_folder_may_have_an_at_in_its_name(tmp_path):
    folder = tmp_path / "me@home"
    folder.mkdir()
    (folder / "plain.toml").write_text(PLAIN)
    assert load_judge(folder / "plain.toml").name == "plain"
    assert load_judge(f"{folder / 'plain.toml'}@prompt=strict").name == "plain@prompt=strict"
