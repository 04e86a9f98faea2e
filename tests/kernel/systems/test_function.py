"""A Python callable as the application: what it is given and may return, and all it may do wrong."""

import asyncio
import functools
import sys
import threading
import time

import msgspec
import pytest

from ragstone.kernel.config import PythonSystem
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.llm.failures import AppFailed
from ragstone.kernel.records import Answer, Context, Question, Step, Usage
from ragstone.kernel.systems._reply import SystemReply
from ragstone.kernel.systems.function import callee_of, function_prompt, load_callee, open_function

QUESTION = Question(id="q1", question="When?", tags={"crop": "corn"})


async def called(function, **given):
    """Return what the ledger would keep of one call."""
    declared = PythonSystem(call="mine", **given)
    _, callee = callee_of(function)
    async with open_function("mine", callee, declared) as endpoint:
        completion = await endpoint.send(function_prompt(callee, QUESTION, ""))
    return msgspec.json.decode(completion.text, type=SystemReply), completion


def in_thread(question: str) -> str:
    return f"{question} {threading.current_thread() is threading.main_thread()}"


async def in_loop(question: str) -> str:
    await asyncio.sleep(0)
    return f"{question} {threading.current_thread() is threading.main_thread()}"


class Application:
    async def __call__(self, question: str) -> str:
        return f"called {question}"

    def ask(self, question: str, k: int = 3) -> str:
        return f"{k} {question}"


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        (in_thread, "When? False"),
        (in_loop, "When? True"),
        (lambda question: in_loop(question), "When? True"),
        (Application(), "called When?"),
        (Application().ask, "3 When?"),
        (functools.partial(Application().ask, k=5), "5 When?"),
    ],
)
async def test_sync_callables_run_in_a_thread_and_async_ones_in_the_loop(function, answer):
    said, completion = await called(function)
    assert said == SystemReply(answer=answer)
    assert completion.latency_s >= 0


def of_row(row: Question) -> str:
    return f"{row.id} {row.tags['crop']}"


def of_quoted_row(row: "Question") -> str:
    return of_row(row)


@pytest.mark.parametrize("function", [of_row, of_quoted_row])
async def test_one_whose_parameter_is_a_question_gets_the_row(function):
    said, _ = await called(function)
    assert said.answer == "q1 corn"


@pytest.mark.parametrize(
    "returned",
    [
        {
            "response": "In May.",
            "retrieved_contexts": ["a"],
            "latency_s": 2.5,
            "usage": {"input": 7, "output": 2},
            "cost_usd": 0.5,
            "trace": "t1",
        },
        Answer(
            question_id="other",
            answer="In May.",
            contexts=[Context(text="a")],
            latency_s=2.5,
            usage=Usage(input=7, output=2, calls=3),
            cost_usd=0.5,
            metadata={"trace": "t1"},
        ),
    ],
)
async def test_a_mapping_with_anybodys_columns_or_an_answer_may_be_returned(returned):
    said, completion = await called(lambda question: returned)
    assert said == SystemReply(answer="In May.", contexts=[Context(text="a")], metadata={"trace": "t1"})
    assert (completion.usage.input, completion.usage.output, completion.usage.calls) == (7, 2, 1)
    assert (completion.latency_s, completion.cost_usd) == (2.5, 0.5)


async def test_one_that_raises_says_what_and_where():
    def answer(question):
        raise KeyError("index is gone")

    with pytest.raises(AppFailed) as failure:
        await called(answer)
    words = str(failure.value)
    assert "[systems.mine]" not in words  # it is named as it was declared: no table of ragstone.toml
    assert "raised KeyError: 'index is gone'" in words
    assert "(test_function.py, line" in words
    assert 'in answer: raise KeyError("index is gone"))' in words
    assert failure.value.status == "error"


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "returned None; it must return a text, a mapping"),
        (42, r"returned int \('42'\)"),
        (["a"], "returned list"),
        ({"contexts": []}, "not an answer: field 'answer' is missing"),
        ({"answer": "x", "contexts": [{"txt": 1}]}, "a context needs one of text"),
        ({"answer": 4.5j}, "mapping that is not an answer"),
    ],
)
async def test_what_is_no_answer_is_told(returned, message):
    with pytest.raises(AppFailed, match=message) as failure:
        await called(lambda question: returned)
    assert failure.value.status == "unparsable"


async def test_an_error_that_it_reports_itself_is_its_failure():
    with pytest.raises(AppFailed, match="says: no index"):
        await called(lambda question: {"error": "no index"})


async def test_an_empty_text_is_an_answer():
    assert (await called(lambda question: ""))[0].answer == ""


@pytest.mark.parametrize("is_async", [True, False])
async def test_one_that_hangs_costs_its_timeout_and_keeps_nothing(is_async, says):
    ended = threading.Event()

    async def sleep(question):
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()

    def wait(question):
        ended.wait(30)

    with pytest.raises(CallFailed) as failure:
        await called(sleep if is_async else wait, timeout_s=0.05)
    says(failure.value)
    assert failure.value.status == "timeout"
    assert not failure.value.retryable
    if is_async:
        await asyncio.sleep(0)
        assert ended.is_set()
    else:
        stuck = [thread for thread in threading.enumerate() if thread.name == "ragstone-function"]
        assert all(thread.daemon for thread in stuck)
        ended.set()


@pytest.fixture
def module(tmp_path):
    """Write a module into a folder; it is forgotten afterwards."""
    before, path = set(sys.modules), list(sys.path)

    def write(text, name="my_app"):
        (tmp_path / f"{name}.py").write_text(text)
        return tmp_path

    yield write
    sys.path[:] = path
    for name in set(sys.modules) - before:
        del sys.modules[name]


async def test_a_module_is_found_in_the_folder_of_ragstone_toml_with_its_neighbours(module):
    module("WORDS = 'from a neighbour'\n", "my_neighbour")
    folder = module(
        "class App:\n"
        "    def ask(self, question):\n"
        "        import my_neighbour\n"
        "        return my_neighbour.WORDS\n"
        "app = App()\n"
    )
    callee = await load_callee("my_app:app.ask", folder, "here")
    async with open_function("mine", callee, PythonSystem(call="my_app:app.ask")) as endpoint:
        completion = await endpoint.send(function_prompt(callee, QUESTION, ""))
    assert msgspec.json.decode(completion.text, type=SystemReply).answer == "from a neighbour"


@pytest.mark.parametrize(
    ("text", "call", "message"),
    [
        ("", "my_app", "write it as module:function"),
        ("", ":ask", "write it as module:function"),
        (
            "",
            "no_such_module:ask",
            r"cannot be imported: ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ("import os\nos.environ['NO_KEY_HERE']\n", "my_app:ask", r"KeyError: 'NO_KEY_HERE' .*line"),
        ("def ask(:\n", "my_app:ask", "SyntaxError"),
        ("", "my_app:ask", "the module my_app has no 'ask'"),
        ("ask = 'text'\n", "my_app:ask", "my_app:ask is not a function but a str"),
        ("def ask(): pass\n", "my_app:ask", r"my_app:ask\(\) cannot be called with a question alone"),
        ("def ask(question, k): pass\n", "my_app:ask", r"alone \(missing a required argument: 'k'\)"),
    ],
)
async def test_what_cannot_be_had_is_told_with_the_reason(module, text, call, message):
    with pytest.raises(ConfigError, match=message):
        await load_callee(call, module(text), "[systems.mine]")


async def test_the_identity_changes_with_the_file_of_the_module(module):
    folder = module("def ask(question): return 'a'\n")
    before = (await load_callee("my_app:ask", folder, "here")).identity
    assert (await load_callee("my_app:ask", folder, "here")).identity == before
    module("def ask(question): return 'b'\n")
    del sys.modules["my_app"]
    assert (await load_callee("my_app:ask", folder, "here")).identity != before


def test_a_callable_is_known_again_only_where_its_module_has_it_by_name():
    name, callee = callee_of(in_thread)
    assert name.endswith("test_function:in_thread")
    assert callee_of(in_thread)[1].identity == callee.identity
    for one in (lambda question: "x", Application().ask, Application(), functools.partial(in_thread)):
        assert callee_of(one)[1].identity != callee_of(one)[1].identity


async def test_a_thread_that_ends_after_the_session_is_closed_disturbs_nobody(caplog):
    async def work():
        with pytest.raises(CallFailed):
            await called(lambda question: time.sleep(0.2), timeout_s=0.01)

    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    thread.join()
    for one in threading.enumerate():
        if one.name == "ragstone-function":
            one.join(60)
    assert not caplog.records


def ends(question: str) -> str:
    sys.exit(3)


async def ends_in_loop(question: str) -> str:
    sys.exit(3)


def has_no_more(question: str) -> str:
    return next(iter(()))


@pytest.mark.parametrize(
    ("function", "kind"),
    [(ends, "SystemExit: 3"), (ends_in_loop, "SystemExit: 3"), (has_no_more, "StopIteration")],
)
async def test_what_no_future_carries_is_told_too(function, kind):
    with pytest.raises(AppFailed, match=f"mine raised {kind}.*test_function.py"):
        await called(function)


async def test_a_module_that_exits_cannot_be_imported(tmp_path, monkeypatch, says):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "exits_at_once.py").write_text("import sys; sys.exit(1)")
    with pytest.raises(ConfigError) as error:
        await load_callee("exits_at_once:answer", tmp_path, "[systems.mine]")
    says(error.value)


@pytest.mark.parametrize("returned", ["\ud800", {"answer": "Yes.", "found": object()}])
async def test_what_no_json_holds_is_told(returned, says):
    with pytest.raises(AppFailed) as error:
        await called(lambda _question: returned)
    says(error.value)


@pytest.mark.parametrize("tokens", [-1, 10**19])
async def test_a_negative_or_impossible_number_is_unknown(tokens):
    told = {"answer": "Yes.", "usage": {"input": tokens}, "cost_usd": -1, "latency_s": -1}
    _, completion = await called(lambda _question: told)
    assert (completion.usage, completion.cost_usd) == (Usage(), None)
    assert completion.latency_s >= 0


async def test_a_function_of_messages_is_given_the_conversation():
    async def reply(messages, k=3):
        return {"answer": f"{k} {messages}", "steps": [{"tool": "look"}]}

    said, _ = await called(reply)
    assert said.answer == "3 [{'role': 'user', 'content': 'When?'}]"
    assert said.steps == [Step(tool="look")]
