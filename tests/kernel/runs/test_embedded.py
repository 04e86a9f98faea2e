"""Conversations as the page embeds them: what it holds anyway is named; there is room, or there is none."""

import base64
import gzip
import json
from typing import Any

from tests.kernel.runs.test_joining import a_run
from tests.support.tiny_run import MODEL, judgement

from ragstone.kernel.llm.prompt import Message
from ragstone.kernel.records import Answer, Context
from ragstone.kernel.runs.asked import AskedCall
from ragstone.kernel.runs.embedded import embed_prompts
from ragstone.kernel.runs.run import Run

CONTEXT = "Rust is treated with fungicide, early."
ANSWER = "It is treated with some fungicide."


def asked(user: str, *, judges: tuple[str, ...] = ("correctness",), reply: str = "{}") -> AskedCall:
    messages = (Message("system", "Judge it."), Message("user", user), Message("assistant", reply))
    return AskedCall(
        question_id="q", systems=["default"], judges=list(judges), model=MODEL, messages=messages
    )


def unpacked(text: str) -> Any:  # noqa: ANN401
    return json.loads(gzip.decompress(base64.b64decode(text)))


def run(**parts: object) -> Run:
    contexts = [Context(text=CONTEXT, document_id="d"), Context(text="Sow.", document_id="e")]
    answer = Answer(question_id="q", answer=ANSWER, contexts=contexts)
    return a_run(answers={"q": [answer]}, **parts)


def test_what_the_page_holds_is_named_and_instructions_stand_once() -> None:
    user = f"<contexts>\n[1] {CONTEXT}\n\n[2] Sow.\n</contexts> <answer>{ANSWER}</answer> The code."
    prompts = embed_prompts([asked(user), asked("no more", judges=())], run(), ["q"], 10_000)
    assert unpacked(prompts.shared) == ["Judge it."]
    [[first, second]] = unpacked(prompts.blocks[0])
    assert first["messages"] == [
        ["system", [0]],
        [
            "user",
            ["<contexts>\n", ["contexts", 0], "\n</contexts> <answer>", ["answer", 0], "</answer> The code."],
        ],
        ["assistant", ["{}"]],
    ]
    assert second["judges"] == []
    assert (prompts.kept, prompts.n) == ("all", 2)


def test_without_room_those_behind_judgements_without_a_score_are_kept_longest(says) -> None:
    rows = [
        judgement("q", "correctness", 1, system="default"),
        judgement("q", "faithfulness", None, system="default", status="unparsable"),
    ]
    calls = [asked(f"{n} " * 400) for n in range(9)] + [asked("short", judges=("faithfulness",), reply="eh?")]
    all_of_it = embed_prompts(calls, run(judgements={"q": rows}), ["q"], 10_000).size()
    prompts = embed_prompts(calls, run(judgements={"q": rows}), ["q"], all_of_it - 1)
    says(prompts.kept)
    [[only]] = unpacked(prompts.blocks[0])
    assert only["messages"][-1] == ["assistant", ["eh?"]]
    nothing = embed_prompts(calls, run(judgements={"q": rows}), ["q"], 10)
    assert (nothing.kept, nothing.blocks, nothing.n) == ("none", [], 10)


def test_a_run_that_asked_nothing_has_no_prompts() -> None:
    prompts = embed_prompts([], run(), ["q"], 10_000)
    assert (prompts.n, prompts.shared, prompts.kept) == (0, "", "all")
