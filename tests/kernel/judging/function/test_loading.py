"""Functions by their names, what they declare, and the number of their source."""

import functools
import importlib
import json
import sys

import msgspec
import pytest
from tests.support.command import ragstone as command

import ragstone
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge
from ragstone.kernel.judging.function import loading
from ragstone.kernel.judging.function.judge import FunctionJudge, judge_of
from ragstone.kernel.judging.judge import type_of_kinds
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.records import Answer

CHECKS = """\
import ragstone

LIMIT = {limit}

def is_short(text):
    return len(text) <= LIMIT

def short(answer):
    return is_short(answer)

@ragstone.judge_function(scale=(0, 10), best="lowest", metric="length", labels={{"long": 9}}, timeout_s=5)
async def length(answer):
    return "long"

def unrelated(answer):
    return {unrelated}
"""
ROWS = [{"question_id": "a", "answer": "Soon."}, {"question_id": "b", "answer": "Not before spring."}]


def write_checks(folder, name="checks", limit=5, unrelated=1):
    (folder / f"{name}.py").write_text(CHECKS.format(limit=limit, unrelated=unrelated))
    importlib.invalidate_caches()


@pytest.fixture
def checks(tmp_path, monkeypatch):
    """A folder with checks.py, in which commands run; what they import is forgotten."""
    before, path = set(sys.modules) - {"checks"}, list(sys.path)
    monkeypatch.delitem(sys.modules, "checks", raising=False)  # that of a page of docs
    write_checks(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(
        "PYTHONDONTWRITEBYTECODE", "1"
    )  # a file that is rewritten within a second looks unchanged
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if name.startswith(("checks", "ragstone_file_", "mine")):
            del sys.modules[name]


@pytest.mark.parametrize("name", ["checks:short", "checks.py:short", "../{folder}/checks.py:short"])
def test_a_function_is_named_by_module_or_by_file(name, checks):
    judged = ragstone.judge(ROWS, judges=[name.format(folder=checks.name)])
    assert [(row.judge, row.metric, row.score) for row in judged] == [
        ("short", "short", 1),
        ("short", "short", 0),
    ]


def test_the_command_judges_by_a_function_and_lists_it_with_the_rest(checks, says):
    (checks / "answers.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    ran = command("judge", "answers.jsonl", "--judge", "checks.py:short", "--judge", "no_refusal", "--json")
    assert ran.code == 0, ran.err
    means = {metric["judge"]: metric["estimate"]["value"] for metric in json.loads(ran.out)["metrics"]}
    assert means == {"short": 0.5, "no_refusal": 1.0}
    shown = json.loads(command("judges", "show", "checks:length", "--json").out)["judge"]
    assert (shown["kind"], shown["call"], shown["best"]) == ("function", "checks:length", "lowest")
    tried = command("judges", "test", "checks.py:short", "answers.jsonl")
    assert tried.code == 0
    says(tried.err)


def test_a_file_names_its_function_and_what_the_function_declares_holds(checks):
    (checks / "sub").mkdir()
    write_checks(checks / "sub", "mine")
    (checks / "sub" / "lengthy.toml").write_text(
        'name = "lengthy"\nversion = 3\nkind = "function"\ncall = "mine.py:length"\n'
    )
    judge = load_judge("sub/lengthy.toml")
    assert isinstance(judge, FunctionJudge)
    assert (judge.name, judge.version, judge.metric, judge.scale, judge.best) == (
        *("lengthy", 3, "length"),
        (0, 10),
        "lowest",
    )
    assert (judge.labels, judge.timeout_s, judge.inputs) == ({"long": 9}, 5, ["answer"])
    assert [row.score for row in ragstone.judge(ROWS, judges=["sub/lengthy.toml"])] == [9, 9]


def test_settings_name_a_file_as_seen_from_them(checks):
    (checks / "sub").mkdir()
    write_checks(checks / "sub", "mine")
    (checks / "sub" / "ragstone.toml").write_text('[judge]\njudges = ["mine.py:short"]\n')
    (checks / "answers.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    ran = command("judge", "answers.jsonl", "--config", "sub/ragstone.toml", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["metrics"][0]["judge"] == "short"


def test_a_function_is_a_member_as_any_judge_and_has_a_threshold(checks):
    (checks / "both.toml").write_text(
        'name = "both"\nversion = 1\nkind = "jury"\ninputs = ["answer"]\nscale = [0, 1]\nsource = "ours"\n'
        'combine = "mean"\nmembers = [{ judge = "checks.py:short" }, { judge = "no_refusal" }]\n'
    )
    assert [row.score for row in ragstone.judge(ROWS, judges=["both.toml"])] == [1, 0.5]


def test_the_version_changes_with_the_function_and_what_it_uses_and_with_nothing_else(checks):
    def version():
        return load_judge("checks.py:short").prompt_version

    first = version()
    write_checks(checks, unrelated=2)
    assert version() == first
    write_checks(checks, limit=6)  # a constant that a function uses which the judge calls
    changed = version()
    assert changed != first
    [row, _] = ragstone.judge(ROWS, judges=["checks.py:short"])
    assert row.prompt_version == changed
    assert 0 < changed < 2**53  # any program reads it as it is


def test_the_digest_knows_neither_folder_nor_process(checks):
    here = load_judge("checks.py:short").every_key()
    (checks / "other").mkdir()
    write_checks(checks / "other", "checks")
    assert load_judge("other/checks.py:short").every_key() == here
    assert "folder" not in here


def test_functions_that_close_over_different_values_are_different_judges():
    def at_most(n):
        return ragstone.judge_function(name=f"at_most_{n}")(lambda answer: len(answer.split()) <= n)

    judges = load_judges([at_most(1), at_most(3)])
    assert [judge.name for judge in judges] == ["at_most_1", "at_most_3"]
    assert judges[0].prompt_version != judges[1].prompt_version
    rows = ragstone.judge(ROWS, judges=[at_most(1), at_most(3)])
    assert [row.score for row in rows] == [1, 0, 1, 1]


def test_a_partial_and_an_object_are_judges_too():
    def within(answer, limit):
        return len(answer) <= limit

    class Within:
        def __init__(self, limit):
            self.limit = limit

        def __call__(self, answer):
            return len(answer) <= self.limit

    partial = ragstone.judge_function(name="within")(functools.partial(within, limit=5))
    assert [row.score for row in ragstone.judge(ROWS, judges=[partial])] == [1, 0]
    assert [(row.judge, row.score) for row in ragstone.judge(ROWS, judges=[Within(5)])] == [
        ("within", 1),
        ("within", 0),
    ]
    assert judge_of(Within(5)).prompt_version != judge_of(Within(6)).prompt_version


def test_two_functions_of_one_name_are_told_apart_or_refused(says):
    def first():
        def same(answer):
            return 1

        return same

    def second():
        def same(answer):
            return 0

        return same

    function = first()
    assert len(load_judges([function, function])) == 1
    with pytest.raises(ConfigError) as error:
        load_judges([first(), second()])
    says(error.value)


def positional(answer, /):
    return 1


@pytest.mark.parametrize(
    ("judges", "says"),
    [
        (["checks.py:shrt"], r"checks\.py has no 'shrt'"),
        (["nowhere.py:short"], "nowhere.py: no such file"),
        (["no_such_module:short"], "no_such_module cannot be imported: ModuleNotFoundError"),
        (["checks:LIMIT"], "it is not a function but a int"),
        ([lambda answer: 1], "it has no name that a judge can have"),
        (
            [lambda: 1],
            r"it takes nothing by name. Name what it reads of a row, such as def f\(question, answer\)",
        ),
        ([positional], "nobody can give its parameter 'answer' by name"),
        (judge_of, "judges: give a list, even of one"),
    ],
)
def test_what_cannot_judge_is_told_with_the_fix(judges, says, checks):
    with pytest.raises(ConfigError, match=says):
        ragstone.judge(ROWS, judges=judges)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('call = "checks.py:length"\nscale = [0, 5]', r"its file has scale = \(0.0, 5.0\), and its function"),
        ('call = "checks.py:short"\nprompt = "x"', "a judge of kind function has no prompt"),
        ('call = "checks.py:short"\nfolder = "/"', "mine.toml:5: unknown key 'folder'"),
        ('call = "checks.py:short"\nlabels = { a = 3 }', "a = 3 is not on the scale 0 to 1"),
        ('call = "checks.py:short"\ntimeout_s = 0', "timeout_s"),
        ("", "call"),
    ],
)
def test_a_wrong_file_is_told_with_the_fix(text, says, checks):
    (checks / "mine.toml").write_text(f'name = "mine"\nversion = 1\nkind = "function"\n{text}\n')
    with pytest.raises(ConfigError, match=says):
        load_judge("mine.toml")


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"scale": (1, 1)}, "give the lowest score, then the highest"),
        ({"scale": (0, float("inf"))}, "give the lowest score, then the highest"),
        ({"name": "My judge"}, "lower-case letters"),
        ({"metric": "A B"}, "lower-case letters"),
        ({"labels": {"good": 3}}, "'good' is off the scale 0 to 1"),
        ({"timeout_s": 0}, "more than 0"),
        ({"at_once": 0}, "1 or more"),
        ({"version": 0}, "1 or more"),
    ],
)
def test_what_no_judge_can_declare_is_refused_at_the_decorator(declared, says):
    with pytest.raises(ConfigError, match=says):
        ragstone.judge_function(**declared)


def test_new_writes_a_python_judge_that_works(checks, says):
    (checks / "answers.jsonl").write_text(
        json.dumps({"question": "When does clover grow?", "answer": "In spring."})
    )
    made = command("judges", "new", "tactful.py")
    assert made.code == 0
    says(made.err)
    assert command("judges", "test", "tactful.py:tactful", "answers.jsonl").code == 0
    says(command("judges", "new", "tactful.py").err)
    assert not (checks / "tactful.toml").exists()


def test_workers_are_told_why_they_cannot_have_a_lambda(says):
    [judge] = load_judges([ragstone.judge_function(name="mine")(lambda answer: 1)])
    loading._given.pop(judge.call)  # as in another process
    loading._loaded.pop((judge.call, judge.digest))
    with pytest.raises(ConfigError) as error:
        _ = judge.function
    says(str(error.value).partition(": ")[2])


async def test_a_worker_finds_the_function_by_what_the_judge_says_of_it(checks, says):
    judge = load_judge("checks.py:short")
    sent = msgspec.msgpack.encode([judge])
    loading._loaded.clear()  # as in another process
    [got] = msgspec.msgpack.decode(sent, type=list[type_of_kinds()])
    [row] = await judge_answer(got, Answer(question_id="a", answer="Soon."), JudgeContext())
    assert (row.score, row.prompt_version) == (1, judge.prompt_version)
    loading._loaded.clear()
    write_checks(checks, limit=9)
    with pytest.raises(ConfigError) as error:
        _ = got.function
    says(error.value)
