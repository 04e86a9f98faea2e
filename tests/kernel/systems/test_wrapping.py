"""The wrappers of docs/how-to/systems.md do what they say, with objects shaped like those that libraries
return."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragstone.kernel.config import PythonSystem
from ragstone.kernel.records import Question
from ragstone.kernel.systems.function import callee_of, function_prompt, open_function

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "systems.md").read_text(encoding="utf-8")


def langchain():
    document = SimpleNamespace(page_content="a passage", metadata={"source": "d1"})
    return {"chain": SimpleNamespace(invoke=lambda asked: {"answer": asked["input"], "context": [document]})}


def llamaindex():
    node = SimpleNamespace(get_content=lambda: "a passage", ref_doc_id="d1")

    class Response:
        source_nodes = (SimpleNamespace(node=node, score=0.5),)

        def __str__(self):
            return "When?"

    async def aquery(question):
        return Response()

    return {"query_engine": SimpleNamespace(aquery=aquery)}


def haystack():
    document = SimpleNamespace(content="a passage", id="d1", score=0.5)

    def run(asked, include_outputs_from):
        reply = SimpleNamespace(text=asked["prompt_builder"]["question"])
        return {
            "llm": {"replies": [reply]},
            **{name: {"documents": [document]} for name in include_outputs_from},
        }

    return {"pipeline": SimpleNamespace(run=run)}


@pytest.mark.parametrize("library", [langchain, llamaindex, haystack])
async def test_the_wrapper_gives_answer_and_contexts(library):
    name = f"ask_{library.__name__}"
    code = re.search(rf"```python\n((?:async )?def {name}.*?)```", PAGE, re.DOTALL)[1]
    names = library()
    exec(code, names)
    _, callee = callee_of(names[name])
    async with open_function("mine", callee, PythonSystem(call="mine")) as endpoint:
        completion = await endpoint.send(function_prompt(callee, Question(id="q", question="When?"), ""))
    assert completion.text.startswith('{"answer":"When?","contexts":[{"text":"a passage"')
    assert '"document_id":"d1"' in completion.text
