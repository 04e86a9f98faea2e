import msgspec
import pytest
from tests.kernel.judging.combined.sheets import ANSWER, TONE, Saying, context_of, whole, write_judge

from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.judging import judge_answer, load_judge, parse_judge, question_digest
from ragstone.kernel.judging.fields import Member

JURY = """
name = "panel"
version = 1
kind = "jury"
inputs = ["question", "answer"]
scale = [0, 1]
source = "ours"
"""


def jury_file(path, *members):
    lines = "".join(f"\n[[members]]\njudge = {member!r}\n" for member in members)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(JURY + lines)
    return path


def test_members_are_loaded_by_name_by_variant_and_from_files_beside_the_jurys(tmp_path, monkeypatch):
    write_judge(tmp_path / "judges" / "own" / "tone.toml")
    file = jury_file(tmp_path / "judges" / "panel.toml", "relevance", "answered@token", "own/tone.toml")
    monkeypatch.chdir(tmp_path)
    for name in (file, "judges/panel.toml"):
        judge = load_judge(name)
        assert [member.inner.name for member in judge.members] == ["relevance", "answered@token", "tone"]
    monkeypatch.chdir("/")
    assert [member.inner.name for member in judge.members][-1] == "tone"


def test_a_file_of_a_member_may_be_asked_in_a_variant(tmp_path):
    write_judge(tmp_path / "tone.toml")
    judge = load_judge(jury_file(tmp_path / "panel.toml", "relevance", "tone.toml@temperature=0.7,samples=2"))
    assert judge.members[1].inner.samples == 2


def test_a_judge_keeps_the_members_that_it_was_loaded_with(tmp_path):
    file = write_judge(tmp_path / "tone.toml")
    jury = jury_file(tmp_path / "panel.toml", "relevance", "tone.toml")
    judge = load_judge(jury)
    file.write_text(TONE.replace("version = 1", "version = 20"))
    assert [one.members[1].inner.version for one in (judge, load_judge(jury))] == [1, 20]


def test_a_judge_without_members_has_none():
    judge = load_judge("correctness")
    assert (judge.members, judge.models, judge.asks_default) == ((), set(), True)
    assert list(judge.leaves()) == [(judge, None)]


def test_models_are_those_that_members_name_at_any_depth(tmp_path):
    inner = jury_file(tmp_path / "inner.toml", "relevance", "answered")
    judge = whole(
        "jury",
        Member(judge=str(inner), model="openai/a"),
        Member(judge="correctness", model="openai/b"),
        Member(judge="containment"),
    )
    assert judge.models == {"openai/a", "openai/b"}
    assert not judge.asks_default
    assert judge.model_name("openai/default") == "openai/a + openai/b"
    assert judge.needs_model


def test_a_member_without_a_model_asks_that_of_the_whole():
    judge = whole("jury", Member(judge="relevance"), Member(judge="correctness", model="openai/b"))
    assert judge.asks_default
    assert judge.model_name("openai/default") == "openai/default + openai/b"


def test_a_jury_of_baselines_needs_no_model():
    judge = whole("jury", Member(judge="containment"), Member(judge="token_f1"))
    assert not judge.needs_model
    assert judge.model_name("openai/default") == "none"


def test_what_decides_a_judgement_is_the_same_wherever_the_files_lie(tmp_path):
    found = []
    for place in ("here", "there"):
        write_judge(tmp_path / place / "tone.toml")
        jury = load_judge(jury_file(tmp_path / place / "panel.toml", "relevance", "tone.toml"))
        found.append(list(jury.identities()))
    assert found[0] == found[1]
    assert [judge.name for judge in found[0]] == ["panel", "relevance", "tone"]
    write_judge(tmp_path / "there" / "tone.toml", TONE.replace("polite", "rude"))
    assert list(load_judge(tmp_path / "there" / "panel.toml").identities()) != found[1]


def test_a_jury_that_contains_itself_is_refused(tmp_path, says):
    jury_file(tmp_path / "a.toml", "relevance", "b.toml")
    file = jury_file(tmp_path / "b.toml", "relevance", "../" + tmp_path.name + "/a.toml")
    with pytest.raises(ConfigError) as error:
        load_judge(tmp_path / "a.toml")
    says(error.value)
    with pytest.raises(ConfigError, match="member of itself"):
        load_judge(file)
    with pytest.raises(ConfigError, match="member of itself"):
        whole("jury", Member(judge="relevance"), Member(judge=str(file)))


@pytest.mark.parametrize(
    ("members", "says"),
    [
        (
            "judge = 'relevanse'",
            r"panel\.toml: member 'relevanse' cannot be loaded.*Did you mean 'relevance'",
        ),
        ("judge = 'none.toml'", r"panel\.toml: member .*none\.toml' cannot be loaded.*no such judge file"),
        ("judge = 'pairwise'", r"panel\.toml: member 'pairwise' compares two answers"),
        ("judge = 'containment'\nmodel = 'openai/a'", "calls no model: remove model = 'openai/a'"),
        ("judge = 'correctness'\ncut = 0", "has cut = 0: give a score above 0, up to 100"),
        ("judge = 'correctness'\ncut = 101", "has cut = 101"),
        ("judge = 'correctness'\nunsure = [1, 2]", "unsure is for a cascade"),
    ],
)
def test_a_member_that_does_not_fit_is_told_with_the_file(tmp_path, members, says):
    (tmp_path / "panel.toml").write_text(JURY + f"[[members]]\njudge = 'relevance'\n[[members]]\n{members}\n")
    with pytest.raises(ConfigError, match=says):
        load_judge(tmp_path / "panel.toml")


@pytest.mark.parametrize(
    ("first", "last", "says"),
    [
        ("judge = 'relevance'", "judge = 'answered'", r"'relevance' needs unsure = \[from, to\]"),
        (
            "judge = 'relevance'\nunsure = [0, 0]",
            "judge = 'answered'\nunsure = [0, 0]",
            "last member, 'answered', has no judge to pass an answer on to",
        ),
        (
            "judge = 'relevance'\nunsure = [0, 2]",
            "judge = 'answered'",
            "an unsure that is not part of its scale",
        ),
        ("judge = 'relevance'\nunsure = [1, 0]", "judge = 'answered'", "give the lower score first"),
        (
            "judge = 'relevance'\nunsure = [0, 0]",
            "judge = 'correctness'",
            "scores from 0 to 100, the cascade from 0 to 1: give it a cut",
        ),
    ],
)
def test_a_cascade_that_does_not_fit_together_is_told(tmp_path, first, last, says):
    text = JURY.replace('"jury"', '"cascade"') + f"[[members]]\n{first}\n[[members]]\n{last}\n"
    (tmp_path / "steps.toml").write_text(text)
    with pytest.raises(ConfigError, match=says):
        load_judge(tmp_path / "steps.toml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (JURY + "[[members]]\njudge = 'relevance'", "needs at least two entries"),
        (
            TONE + "[[members]]\njudge = 'relevance'",
            "for a judge of kind percentage: it is for jury, cascade, stack or assertion",
        ),
        (JURY + "temperature = 0.5\n" + "[[members]]\njudge = 'relevance'\n" * 2, "belong to its members"),
    ],
)
def test_members_stand_where_they_belong(tmp_path, text, says):
    with pytest.raises(ConfigError, match=says):
        parse_judge(text, tmp_path / "panel.toml")


async def test_a_model_that_nobody_opened_is_a_mistake_of_the_caller(says):
    judge = whole("jury", Member(judge="relevance", model="openai/a"), Member(judge="containment"))
    with pytest.raises(ValueError) as error:
        await judge_answer(judge, ANSWER, context_of())
    says(error.value)


async def test_a_model_that_cannot_be_had_ends_the_command():
    judge = whole("jury", Member(judge="relevance", model="openai/a"), Member(judge="containment"))
    with pytest.raises(ModelError, match="no key"):
        await judge_answer(judge, ANSWER, context_of(a=Saying(ModelError("no key"))))


async def test_a_row_that_a_member_was_tuned_on_is_tuned_for_the_whole(tmp_path):
    tuned = msgspec.structs.replace(parse_judge(TONE, tmp_path / "tone.toml"))
    write_judge(tmp_path / "tone.toml", TONE + f"tuned_on = ['{question_digest('q1', ANSWER.question)}']\n")
    assert tuned.tuned_on == []
    judge = load_judge(jury_file(tmp_path / "panel.toml", "relevance", "tone.toml"))
    asked = Saying({"score": 100})
    [row] = await judge_answer(
        whole("jury", *judge.members[1:], Member(judge="containment")), ANSWER, context_of(asked)
    )
    assert row.metadata["tuned"] is True
