import pytest

from ragstone.kernel.errors import ModelError
from ragstone.kernel.judging import load_judge
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.judging.judge import type_of_kind
from ragstone.kernel.judging.unnamed_model import check_model_named, judges_without_model
from ragstone.kernel.judging.variant import load_members


@pytest.fixture(scope="module")
def judges():
    """A judge that asks no model, two that ask the one of the whole, and a jury whose file names its own."""
    jury = type_of_kind("jury")(
        name="jury",
        version=1,
        inputs=["question", "answer"],
        scale=(0, 1),
        source="a test",
        members=[Member(judge="relevance", model=f"openai/{name}") for name in ("small", "big", "third")],
    )
    shipped = {name: load_judge(name) for name in ("containment", "correctness", "relevance")}
    return shipped | {"jury": load_members(jury, "jury")}


def test_only_those_lack_a_model_that_ask_one_which_nobody_names(judges):
    assert judges_without_model(judges.values(), None) == ["correctness", "relevance"]
    assert judges_without_model(judges.values(), "openai/a") == []


def test_judges_without_a_model_are_named_with_what_to_do(judges, says):
    check_model_named([judges["containment"], judges["jury"]], None)
    check_model_named(judges.values(), "openai/a")
    for names in (["relevance"], ["correctness", "relevance"]):
        with pytest.raises(ModelError) as error:
            check_model_named([judges[name] for name in names], None)
        says(error.value)
