"""Every kind of endpoint that people have (tests/support/dialects): a judged row, or its true status.

And what to change, in the message; and nothing is paid twice, neither now nor when the command is run again.
"""

from pathlib import Path

import msgspec
import pytest
from tests.support.dialects import BY_NAME, DIALECTS
from tests.support.dialects.server import Bench, Dialect, Request, chat, limit_of
from tests.support.doors import Verdict, prompt

from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import CallFailed, Door, Message, Prompt
from ragstone.kernel.llm.providers import providers

GOOD, ODD = "row one", "the odd row"


def prompt_for(dialect: Dialect, row: str) -> Prompt:
    """The prompt of a row, as the dialect is asked."""
    if dialect.ask.get("reply", Verdict) is None:
        return Prompt(messages=(Message("user", f"Say {row}."),), max_tokens=100)
    return msgspec.structs.replace(prompt(f"Judge {row}."), **dialect.ask)


async def outcome(door: Door, asked: Prompt) -> tuple[str, str]:
    """What becomes of a row, and in which words."""
    pieces: list[str] = []
    try:
        reply = await (door.stream(asked, pieces.append) if asked.reply is None else door.ask(asked))
    except CallFailed as failure:
        return failure.status, str(failure)
    except ModelError as stopped:
        return "stops", str(stopped)
    if asked.reply is None:
        assert "".join(pieces) == reply.text == "It is blue."
    else:
        assert reply.value.score == 2
    return "scored", ""


async def command(dialect: Dialect, bench: Bench, folder: Path) -> dict[str, tuple[str, str]]:
    """Judge both rows; what became of each."""
    async with bench.door(dialect, folder) as door:
        return {row: await outcome(door, prompt_for(dialect, row)) for row in (GOOD, ODD)}


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
async def test_every_row_has_its_true_status_and_nothing_is_paid_twice(dialect, bench, tmp_path):
    rows = await command(dialect, bench, tmp_path)
    status, words = rows[ODD]
    assert status == dialect.status, words
    assert dialect.says in words
    assert rows[GOOD][0] == ("stops" if dialect.n_calls == 0 else "scored"), rows[GOOD][1]
    assert len(requests_for(ODD, bench)) == dialect.n_calls

    bench.requests.clear()
    assert statuses(await command(dialect, bench, tmp_path)) == statuses(rows)
    assert {row for row in rows if requests_for(row, bench)} <= unscored(rows)

    bench.requests.clear()
    bench.mended = True
    again = await command(dialect, bench, tmp_path)
    # A refusal of the model is its answer, and stays; all else is asked anew, once.
    anew = {row for row in unscored(rows) if not said_no(rows[row])}
    assert {row: len(requests_for(row, bench)) for row in rows} == {row: int(row in anew) for row in rows}
    assert all(again[row][0] == "scored" for row in anew)


def requests_for(row: str, bench: Bench) -> list[Request]:
    return [one for one in bench.requests if row in one.row]


def statuses(rows: dict[str, tuple[str, str]]) -> dict[str, str]:
    return {row: status for row, (status, _words) in rows.items()}


def unscored(rows: dict[str, tuple[str, str]]) -> set[str]:
    return {row for row, (status, _words) in rows.items() if status != "scored"}


def said_no(outcome: tuple[str, str]) -> bool:
    return outcome[0] == "refused" and "refused the text" not in outcome[1]


def test_the_bench_has_every_provider_that_is_asked_over_http():
    asked = {one.name for one in providers().values() if one.dialect in ("openai", "azure", "anthropic")}
    assert asked == {one.provider.name for one in DIALECTS}
    assert len(BY_NAME) == len(DIALECTS)
    assert all(one.source.startswith("https://") for one in DIALECTS)


async def test_a_prompt_beside_which_there_is_less_room_narrows_no_other(bench, tmp_path):
    dialect = BY_NAME["vllm-new-window-full"]
    async with bench.door(dialect, tmp_path) as door:
        for row in ("row one", "the odd row", "row two"):
            await door.ask(prompt(f"Judge {row}."))
    limits = [limit_of(one) for one in bench.requests]
    assert limits == [4100, 4100, 2050, 1025, 512, 4100]  # 4,000 to think in, and 100 to reply


async def test_the_limit_of_a_model_is_learnt_once_for_all_rows(bench, tmp_path):
    dialect = BY_NAME["openai-limit-of-the-model"]
    async with bench.door(dialect, tmp_path) as door:
        for row in ("row one", "row two"):
            await door.ask(prompt(f"Judge {row}."))
    assert [limit_of(one) for one in bench.requests] == [20_100, 16_384, 16_384]


async def test_a_form_that_is_refused_is_not_tried_again(bench, tmp_path):
    dialect = BY_NAME["openai-reasoner"]
    async with bench.door(dialect, tmp_path) as door:
        replies = [await door.ask(prompt(f"Judge {row}.")) for row in ("row one", "row two")]
    first, *refused, last = (
        {"max_tokens", "max_completion_tokens", "temperature"} & one.body.keys() for one in bench.requests
    )
    assert first == {"max_tokens", "temperature"}
    assert refused == [{"max_completion_tokens", "temperature"}, {"max_completion_tokens"}]
    assert last == {"max_completion_tokens"}
    assert [reply.usage.reasoning for reply in replies] == [700, 700]


@pytest.mark.parametrize(
    ("name", "n_thought"),
    [
        ("openai-reasoner", 700),  # told in completion_tokens_details
        ("gemini", 700),  # in total_tokens alone
        ("together-reasoner", 700),  # beside them
        # Not told: the share in the characters, of which the thought has 480 and the verdict 65.
        ("ollama-thinker", 634),  # 720 * 480 / 545
        ("vllm-reasoning", 2660),  # 3020 * 480 / 545
        ("mistral-content-in-parts", 634),
        ("groq-raw-thought", 2671),  # 3020 * 497 / 562: tags and empty lines are of the thought
    ],
)
async def test_tokens_of_thought_are_counted_wherever_they_are_told(name, n_thought, bench, tmp_path):
    async with bench.door(BY_NAME[name], tmp_path) as door:
        reply = await door.ask(prompt("Judge row one."))
    n_all = 3020 if n_thought > 1000 else 720
    assert (reply.usage.input, reply.usage.output) == (50, n_all)
    assert reply.usage.reasoning == n_thought


async def test_other_fields_make_another_call_and_other_headers_the_same(bench, tmp_path):
    dialect = BY_NAME["reply-in-parts"]
    n_asked = []
    for further in (
        {},
        {"extra": {"seed": 1}},
        {"extra": {"seed": 2}},
        {"extra": {"seed": 1}},
        {"headers": {"X-Team": "a"}},
    ):
        async with bench.door(dialect, tmp_path, **further) as door:
            await door.ask(prompt("Judge row one."))
        n_asked.append(len(bench.requests))
    assert n_asked == [1, 2, 3, 3, 3]
    assert [one.body.get("seed") for one in bench.requests] == [None, 1, 2]


async def test_what_the_endpoint_says_a_call_cost_is_its_cost(bench, tmp_path):
    # OpenRouter tells it: https://openrouter.ai/docs/use-cases/usage-accounting
    usage = {"prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 70, "cost": 0.00042}
    dialect = Dialect("router", "", lambda request: chat(request, usage=usage), "openrouter/meta/llama-x")
    async with bench.door(dialect, tmp_path) as door:
        assert (await door.ask(prompt("Judge row one."))).cost_usd == 0.00042
