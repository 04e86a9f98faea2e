"""A Python function as a tool: its arguments, its docstring, what it returns and raises."""

import json
import sys
from pathlib import Path

import msgspec
import pytest
from tests.support.situations import observe

from ragstone.kernel.config import AssistantSection, Settings
from ragstone.kernel.errors import ConfigError
from ragstone_assistant.tool import Tool, ToolSetup
from ragstone_assistant.tools.functions import function_tool, open_tool
from ragstone_assistant.tools.plain_text import MOST

HEAD = "from typing import Annotated, Any, Literal, Optional, Union\nimport asyncio, time\nimport msgspec\n"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    """Give a function that makes a tool of the function `f` in a text."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    name = f"tool_{abs(hash(request.node.nodeid))}"

    async def make(text: str, call: str = "f", timeout_s: float = 5) -> Tool:
        (tmp_path / f"{name}.py").write_text(HEAD + text)
        return await function_tool(f"{name}:{call}", tmp_path, timeout_s)

    yield make
    sys.modules.pop(name, None)


PRICE = '''
def market_price(crop: str, market: Literal["Nairobi", "Kisumu"], days: int = 7, units: Optional[str] = None,
                 grades: list[str] = [], organic: bool = False, most: float = None) -> dict:
    """Price of a crop at a market,
    in Kenyan shillings a kilogram.

    Args:
        crop: Name of the crop,
            in English.
        market (str): The market.
        days: From how many days.

    Returns:
        days: not an argument's text.

    Examples:
        What does maize cost in Nairobi?
        - ¿Cuánto cuesta el maíz?
    """
    return {"crop": crop, "market": market, "days": days, "units": units, "grades": grades, "most": most}
'''


async def test_the_signature_and_the_docstring_become_arguments(made):
    tool = await made(PRICE, "market_price")
    assert tool.name == "market_price"
    assert tool.description == "Price of a crop at a market, in Kenyan shillings a kilogram."
    assert tool.examples == ("What does maize cost in Nairobi?", "¿Cuánto cuesta el maíz?")
    (form,) = msgspec.json.schema(tool.arguments)["$defs"].values()
    assert form["description"] == tool.description
    assert form["required"] == ["crop", "market"]
    assert form["properties"]["crop"] == {"type": "string", "description": "Name of the crop, in English."}
    assert form["properties"]["market"] == {"enum": ["Kisumu", "Nairobi"], "description": "The market."}
    assert form["properties"]["days"]["type"] == "integer"
    assert form["properties"]["most"]["anyOf"] == [{"type": "number"}, {"type": "null"}]
    assert form["additionalProperties"] is False
    assert set(tool.doing) == {"en", "es", "fr", "hi", "ar", "sw"}


async def test_it_is_called_with_what_the_model_gives_and_its_defaults(made):
    tool = await made(PRICE, "market_price")
    seen = await observe(tool, crop="maize", market="Nairobi", grades=["a"])
    assert json.loads(seen.text) == {
        "crop": "maize", "market": "Nairobi", "days": 7, "units": None, "grades": ["a"], "most": None
    }  # fmt: skip
    assert not seen.failed


@pytest.mark.parametrize(
    "given", [{"market": "Nairobi"}, {"crop": "x", "market": "Paris"}, {"crop": "x", "y": 1}]
)
async def test_wrong_arguments_are_refused_before_it_is_called(made, given):
    tool = await made(PRICE, "market_price")
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, tool.arguments)


async def test_a_default_list_is_not_shared_between_calls(made):
    tool = await made('def f(x: list[int] = [1]):\n    """Do."""\n    x.append(2)\n    return x')
    assert [(await observe(tool)).text for _ in range(2)] == ["[1,2]", "[1,2]"]


async def test_plain_lines_describe_arguments_too(made):
    tool = await made(
        'def f(crop: str, n: int):\n    """Do it.\n\n    crop: which one, as\n    farmers say. n: no.\n'
        '    n: how many\n    """'
    )
    (form,) = msgspec.json.schema(tool.arguments)["$defs"].values()
    assert form["properties"]["crop"]["description"] == "which one, as farmers say. n: no."
    assert form["properties"]["n"]["description"] == "how many"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("return 'a text'", "a text"),
        ("return ['a', 1]", '["a",1]'),
        ("return {'a': 1.5, 'b': None}", '{"a":1.5,"b":null}'),
        ("return 3", "3"),
        ("return None", "f returned nothing."),
        ("return ''", "f returned an empty text."),
        ("import pathlib; return pathlib.PurePosixPath('/a')", '"/a"'),
        ("return '<|im_end|>'", "< |im_end|>"),
    ],
)
@pytest.mark.parametrize("kind", ["def", "async def"])
async def test_what_it_returns_becomes_text(made, kind, body, text):
    seen = await observe(await made(f'{kind} f():\n    """Do."""\n    {body}'))
    assert (seen.text, seen.failed) == (text, False)


async def test_a_long_text_is_cut(made):
    seen = await observe(await made('def f():\n    """Do."""\n    return "x" * 99999'))
    assert len(seen.text) == MOST
    assert seen.text.endswith("[…]")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('no such\\nmarket')", "f failed: no such market"),
        ("raise KeyError", "f failed: KeyError"),
        ("raise SystemExit(3)", "f failed: 3"),
        ("raise StopIteration('end')", "f failed: end"),
        ("x = []; x.append(x); return x", "cannot be written as text"),
    ],
)
async def test_what_it_raises_is_told_in_its_words_without_a_traceback(made, body, words):
    seen = await observe(await made(f'def f():\n    """Do."""\n    {body}'))
    assert seen.failed
    assert words in seen.text
    assert "line" not in seen.text
    assert ".py" not in seen.text


@pytest.mark.parametrize(
    "body",
    ["def f():\n    'Do.'\n    time.sleep(1)", "async def f():\n    'Do.'\n    await asyncio.sleep(9)"],
)
async def test_one_that_takes_too_long_fails(made, body):
    seen = await observe(await made(body, timeout_s=0.05))
    assert (seen.failed, seen.text) == (True, "f did not return within 0.05 s.")


async def test_an_object_that_can_be_called_is_a_tool_too(made):
    tool = await made(
        'class A:\n    """Do."""\n    def __call__(self, n: int) -> int:\n        return n + 1\nf = A()'
    )
    assert (tool.name, (await observe(tool, n=1)).text) == ("f", "2")


async def test_types_written_as_text_are_understood(made):
    tool = await made(
        'def f(x: "int | None", y: Annotated["str", msgspec.Meta(max_length=2)]):\n    "Do."\n    return x'
    )
    assert (await observe(tool, x=4, y="a")).text == "4"
    with pytest.raises(msgspec.ValidationError, match="length <= 2"):
        msgspec.convert({"x": 1, "y": "abc"}, tool.arguments)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def f(x):\n    'Do.'", "the argument x has no type. Write e.g. `x: str`"),
        ("def f(*x: str):\n    'Do.'", r"\*x: str cannot be given by name"),
        ("def f(**x: str):\n    'Do.'", r"cannot be given by name"),
        ("def f(x: str, /):\n    'Do.'", "cannot be given by name"),
        ("def f(_x: str):\n    'Do.'", "begins with an underscore"),
        ("def f(x: dict):\n    'Do.'", "is of type dict. Known: str, int"),
        ("def f(x: Any):\n    'Do.'", "is of type Any"),
        ("def f(x: list):\n    'Do.'", "is of type list"),
        ("def f(x: list[int] | list[str]):\n    'Do.'", "is of type"),
        ("def f(x: 'Missing'):\n    'Do.'", "its types cannot be read"),
        ("def f(x: str): ...", "has no docstring"),
        ("f = 3", "is not a function, but a int"),
        ("g = 3", "has no 'f'"),
        ("1 / 0", "cannot be imported: ZeroDivisionError"),
    ],
)
async def test_a_function_that_cannot_be_a_tool_is_an_error_of_the_settings(made, text, words):
    with pytest.raises(ConfigError, match=words):
        await made(text)


@pytest.mark.parametrize("call", ["no_such_module_x:f", "f"])
async def test_a_module_that_is_not_there_is_an_error_of_the_settings(tmp_path, call):
    with pytest.raises(ConfigError, match=r"\[assistant\] tools"):
        await function_tool(call, tmp_path)


MAKERS = """
from contextlib import asynccontextmanager
from ragstone_assistant.tool import Observation, Tool, ToolSetup
from ragstone.kernel.config.section import Section


class Options(Section, frozen=True, kw_only=True):
    path: str


class Nothing(msgspec.Struct):
    pass


def made(name):
    async def call(arguments, situation):
        return Observation(text=f"{name} on {situation.today:%A}", links=(("A", "https://a.example"),))

    return Tool(name=name, description="x", arguments=Nothing, call=call)


def plain(setup: ToolSetup) -> Tool:
    return made(setup.path(setup.options(Options).path).name)


@asynccontextmanager
async def opened(setup: "ToolSetup"):
    print("opened")
    yield made("opened")
    print("closed")


def opens(setup: ToolSetup):
    return opened(setup)


def wrong(setup: ToolSetup):
    return "a text"
"""


@pytest.fixture
def opened_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Give a function that opens the tool of a name in MAKERS, with options, and calls it."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "makers.py").write_text(HEAD + MAKERS)

    async def called(name: str, **options: object) -> str:
        section = AssistantSection(options={name: options} if options else {})
        settings = Settings(root=str(tmp_path), assistant=section)
        setup = ToolSetup(name=name, settings=settings, embed=lambda texts, role: None)
        async with open_tool(f"makers:{name}", setup) as tool:
            return (await observe(tool)).text

    yield called
    sys.modules.pop("makers", None)


async def test_a_function_of_a_setup_makes_the_tool_with_its_options_and_closes_it(opened_tool, capsys):
    assert await opened_tool("plain", path="prices.csv") == "prices.csv on Saturday"
    assert await opened_tool("opens") == "opened on Saturday"
    assert capsys.readouterr().out == "opened\nclosed\n"


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("plain", {}, "the key 'path' is missing"),
        ("plain", {"pth": "x"}, "unknown key 'pth'. Did you mean 'path'?"),
        ("wrong", {}, "returned a str. Return a Tool"),
        ("made", {"path": "x"}, "takes no options"),
    ],
)
async def test_a_tool_that_cannot_be_made_is_an_error_of_the_settings(opened_tool, name, options, told):
    with pytest.raises(ConfigError) as caught:
        await opened_tool(name, **options)
    assert told in str(caught.value)
