"""A model on the workers' GPUs: everything around the processor, with a function in its place."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from ragstone.kernel.config import Settings, choose
from ragstone.kernel.engine.cluster.vllm import processed, read_rows_of, row_of
from ragstone.kernel.engine.session import open_session
from ragstone.kernel.errors import ModelError
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.llm.prompt import Completion, Message, Prompt
from ragstone.kernel.llm.rounds import AnsweredCall
from ragstone.kernel.records import Answer, Judgement, Usage
from ragstone.kernel.stages.judge import judge_rows

MODEL = "vllm/me/mine"


class Verdict(msgspec.Struct):
    why: str
    verdict: Literal["yes", "no"]


ASKED = Prompt(
    messages=(Message("system", "Judge."), Message("user", "Is it?")),
    reply=Verdict,
    nonce="n-17",
    max_tokens=50,
    temperature=0.0,
    top_logprobs=2,
)


def test_a_prompt_becomes_a_row_that_is_held_to_its_schema() -> None:
    row = row_of(3, ASKED)
    assert (row["place"], row["messages"][1]) == (3, {"role": "user", "content": "Is it?"})
    sampling = row["sampling_params"]
    assert (sampling["temperature"], sampling["max_tokens"], sampling["logprobs"]) == (0.0, 50, 2)
    schema = msgspec.json.decode(sampling["structured_outputs"]["json"])
    assert schema["properties"]["nonce"]["type"] == "string"
    assert "n-17" not in str(schema)  # one grammar for all rows
    assert schema["required"] == ["nonce", "why", "verdict"]
    free = Prompt(messages=(Message("user", "x"),), temperature=0.7, sample=4)
    assert row_of(0, free)["sampling_params"] == {"temperature": 0.7, "max_tokens": 1024, "seed": 4}


def test_a_row_becomes_a_completion_with_its_logprobs() -> None:
    places = [
        {7: {"logprob": -0.1, "rank": 1, "decoded_token": "yes"}, 8: {"logprob": -2.3, "decoded_token": "no"}}
    ]
    row = {
        "place": 0,
        "generated_text": "yes",
        "num_input_tokens": 9,
        "num_generated_tokens": 1,
        "generated_tokens": [7],
        "logprobs": places,
        "__inference_error__": "",
    }
    (answered,) = read_rows_of([row], [ASKED])
    completion = answered.completion
    assert completion is not None
    assert (completion.text, completion.usage, completion.latency_s) == (
        "yes",
        Usage(input=9, output=1),
        None,
    )
    assert completion.logprobs is not None
    assert [(one.text, one.logprob) for one in completion.logprobs[0].top] == [("yes", -0.1), ("no", -2.3)]
    (odd,) = read_rows_of([row | {"logprobs": ["odd"]}], [ASKED])
    assert odd.completion is not None
    assert odd.completion.logprobs is None
    (failed,) = read_rows_of([{"place": 0, "__inference_error__": "OOM\nat line 3"}], [ASKED])
    assert (failed.completion, failed.error) == (None, "vLLM: OOM")


def scripted(prompts: Sequence[Prompt]) -> Iterable[AnsweredCall]:
    """Say what the judge `correctness` wants, as its schema has it."""
    for place, prompt in enumerate(prompts):
        reply = {"nonce": prompt.nonce} | _least(prompt.reply)
        usage = Usage(input=10, output=5)
        text = msgspec.json.encode(reply).decode()
        yield AnsweredCall(place=place, completion=Completion(text=text, usage=usage, latency_s=None))


def _least(reply: type | None) -> dict[str, object]:
    from ragstone.kernel.llm.schema import schema_of

    found: dict[str, object] = {}
    for name, kind in schema_of(reply, False)["properties"].items():  # type: ignore[arg-type]
        found[name] = kind["enum"][-1] if "enum" in kind else kind.get("minimum", "because")
    return found


async def judged(settings: Settings) -> list[Judgement]:
    rows = [
        Answer(question_id=f"q{n}", system="s", question="When?", reference="At V6.", answer=f"At V{n}.")
        for n in range(3)
    ]
    async with open_session(settings) as session:
        session.processes[MODEL] = scripted
        return [row async for row in judge_rows(lambda: rows, load_judges(["correctness"]), session, 3)]


async def test_a_stage_is_judged_in_rounds_and_again_from_the_ledger(tmp_path: Path) -> None:
    settings = choose(Settings(root=str(tmp_path)), "judge", model=MODEL)
    settings = choose(settings, "engine", kind="ray")
    first = await judged(settings)
    assert {row.status for row in first} == {"scored"}
    assert first[0].model.endswith("me/mine")
    assert await judged(settings) == first


@pytest.mark.server
def test_a_cluster_without_gpus_names_what_runs_without(ray_here: None, says) -> None:
    with pytest.raises(ModelError) as error:
        list(processed(MODEL, Settings(), [ASKED]))
    says(error.value)
