import pytest
from tests.support.scripted_judge import Scripted

from ragstone.flows.bench_judges.grid import Meter
from ragstone.judging import JudgeContext
from ragstone.judging.finding import no_model
from ragstone.llm import CallFailed, Message, Prompt, Reply
from ragstone.records import Usage

PROMPT = Prompt(messages=(Message("user", "Hello"),), reply=dict)


def asking(latency_s=0.25, cost_usd=0.5):
    seen = []

    async def ask(prompt):
        seen.append(prompt.sample)
        usage = Usage(input=10, output=5)
        return Reply(text="", value=None, usage=usage, latency_s=latency_s, cost_usd=cost_usd)

    return ask, seen


async def test_calls_are_summed_those_of_members_too():
    meter, (ask, _) = Meter(), asking()
    means = meter.metered(JudgeContext(ask=ask, others={"openai/b": ask}, secret=b"s"))
    await means.ask(PROMPT)
    await means.others["openai/b"](PROMPT)
    spent = meter.spent(4)
    assert (spent.n_calls, spent.input, spent.output) == (2, 20, 10)
    assert (spent.seconds, spent.cost_usd) == (0.5, 1.0)
    assert (spent.seconds_each, spent.usd_each) == (0.125, 0.25)


async def test_each_run_draws_samples_of_its_own():
    ask, seen = asking()
    for run in range(3):
        await Meter().metered(JudgeContext(ask=ask, secret=b"s"), run).ask(PROMPT)
    assert seen == [0, 1000, 2000]


@pytest.mark.parametrize(("latency_s", "cost_usd"), [(None, 0.5), (0.25, None)])
async def test_what_is_unknown_of_one_call_is_unknown_of_all(latency_s, cost_usd):
    meter = Meter()
    await meter.metered(JudgeContext(ask=asking()[0], secret=b"s")).ask(PROMPT)
    await meter.metered(JudgeContext(ask=asking(latency_s, cost_usd)[0], secret=b"s")).ask(PROMPT)
    spent = meter.spent(2)
    assert spent.seconds is None if latency_s is None else spent.seconds == 0.5
    assert spent.cost_usd is None if cost_usd is None else spent.cost_usd == 1.0


async def test_failed_call_counts_its_tokens_alone():
    meter = Meter()
    failing = Scripted(CallFailed("unparsable", "no JSON", usage=Usage(input=7, output=3, calls=2)))
    with pytest.raises(CallFailed):
        await meter.metered(JudgeContext(ask=failing, secret=b"s")).ask(PROMPT)
    spent = meter.spent(1)
    assert (spent.n_calls, spent.input, spent.output, spent.seconds, spent.cost_usd) == (2, 7, 3, 0.0, 0.0)


def test_judge_that_asks_no_model_takes_nothing():
    assert Meter().metered(JudgeContext()).ask is no_model
    spent = Meter().spent(3)
    assert (spent.n_calls, spent.seconds_each, spent.usd_each) == (0, 0.0, 0.0)
