"""Juries and cascades in a session: the models that members name are opened, forecast and asked by batch."""

import msgspec
import pytest

import ragstone
from ragstone.kernel.config import ModelSettings, RetrieveSection
from ragstone.kernel.engine.session import open_session
from ragstone.kernel.errors import ConfigError, DataError, ModelError
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.judging.finding import no_model
from ragstone.kernel.judging.judge import type_of_kind
from ragstone.kernel.judging.variant import load_members
from ragstone.kernel.records import Answer
from ragstone.kernel.stages.judge import judge_context

ANSWERS = [
    Answer(question_id=f"q{n}", question=f"What is {n}?", reference=f"number {n}", answer=f"It is {said}.")
    for n, said in enumerate(["number 0", "number 1", "number 2", "another"])
]


def whole(kind, *members):
    judge = type_of_kind(kind)(
        name="whole",
        version=1,
        inputs=["question", "answer"],
        scale=(0, 1),
        source="a test",
        members=list(members),
    )
    return load_members(judge, "whole")


STEPS = whole(
    "cascade",
    Member(judge="containment", unsure=(0, 0)),
    Member(judge="relevance", model="openai/small", unsure=(0, 1)),
    Member(judge="relevance", model="openai/big"),
)


@pytest.fixture
def settings(fake_openai, tmp_path):
    """Settings with two models at one server; no model in [judge]."""
    given = fake_openai.settings(root=tmp_path)
    of_models = {
        f"openai/{name}": ModelSettings(base_url=fake_openai.base_url) for name in ("small", "big", "default")
    }
    return msgspec.structs.replace(given, models=of_models)


def judged(settings, judge, **options):
    return ragstone.judge(ANSWERS, judges=[judge], settings=settings, **options)


def test_a_judge_whose_members_name_their_models_needs_no_other(fake_openai, settings):
    rows = judged(settings, STEPS)
    assert [row.status for row in rows] == ["scored"] * 4
    assert {row.model for row in rows} == {"openai/small + openai/big"}
    assert sorted(body["model"] for body in fake_openai.bodies) == ["big", "small"]  # about the last row
    assert rows[-1].usage.calls == 2


def test_a_member_without_a_model_asks_that_of_the_command(fake_openai, settings, says):
    jury = whole("jury", Member(judge="relevance", model="openai/small"), Member(judge="relevance"))
    with pytest.raises(ModelError) as error:
        judged(settings, jury)
    says(error.value)
    rows = judged(settings, jury, model="openai/default")
    assert {row.model for row in rows} == {"openai/small + openai/default"}
    assert {body["model"] for body in fake_openai.bodies} == {"small", "default"}


async def test_a_session_opens_what_members_need_and_says_which_models(settings):
    jury = whole("jury", Member(judge="relevance", model="openai/small"), Member(judge="containment"))
    async with open_session(settings) as session:
        context = await judge_context(session, [jury])
        assert (context.ask, context.model, set(context.others)) == (no_model, "none", {"openai/small"})
        assert [role for role in session.roles(["openai/small"]) if "member" in role] == ["judges' member 1"]
        assert (
            await judge_context(session, [whole("jury", *[Member(judge="containment")] * 2)])
        ).others == {}


def test_similarity_within_a_jury_gets_its_embedder(fake_openai, tmp_path):
    settings = fake_openai.settings(root=tmp_path, dimensions=1024)
    settings = msgspec.structs.replace(settings, retrieve=RetrieveSection(embedder="openai/fake"))
    jury = whole("jury", Member(judge="similarity"), Member(judge="containment"))
    assert [row.status for row in judged(settings, jury)] == ["scored"] * 4
    assert fake_openai.embedded


def test_by_batch_only_unsure_rows_reach_the_dear_judge(fake_openai, settings, tmp_path):
    rows = judged(settings, STEPS, batch=True)
    assert [row.status for row in rows] == ["scored"] * 4
    assert rows[-1].usage.calls == 2
    assert all(row.usage is None for row in rows[:3])


def test_what_a_member_was_asked_alone_is_not_asked_again(fake_openai, settings):
    judged(settings, "relevance", model="openai/small")
    n_requests = fake_openai.n_requests
    jury = whole("jury", Member(judge="relevance", model="openai/small"), Member(judge="containment"))
    judged(settings, jury)
    assert fake_openai.n_requests == n_requests == len(ANSWERS)


def test_judges_and_rows_that_are_none_are_told_before_anything_is_judged(settings, says):
    with pytest.raises(ConfigError) as error:
        ragstone.judge(ANSWERS, judges="containment", settings=settings)
    says(error.value)
    with pytest.raises(DataError) as error:
        ragstone.judge([*ANSWERS, ANSWERS[0]], judges=["containment"], settings=settings)
    says(error.value)
    with pytest.raises(DataError) as error:
        ragstone.judge(None, judges=["containment"], settings=settings)
    says(error.value)
