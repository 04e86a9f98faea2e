"""The batch APIs of OpenAI, Anthropic, Mistral and Gemini: one life of a batch, whoever makes it."""

import asyncio
import contextlib

import pytest
from tests.support.doors import opened, prompt, verdict
from tests.support.fake_batch_apis import APIS, KEY, REFUSED, AnthropicBatches, GeminiBatches, serving_batches
from tests.support.scripts import always, in_turn, say

from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import Budget
from ragstone.kernel.llm import _batch_api as batch_api
from ragstone.kernel.llm._batch import BatchJournal
from ragstone.kernel.llm.providers import providers

WORDS = ("Judge number 1.", "Judge number 2.", "Judge number 3.")


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(params=APIS, ids=lambda kind: kind.__name__)
def api(request, monkeypatch):
    """A provider; what was sent to it is checked at the end."""
    for provider in providers().values():
        for name in provider.keys[:1]:
            monkeypatch.setenv(name, KEY)
    with serving_batches(request.param) as fake:
        fake.script = always(verdict(2))
        yield fake


@contextlib.asynccontextmanager
async def command(api, folder, *, ahead=False, **of_model):
    """Give the batches of one command, and a function that asks; opened anew, it is the next command."""

    @contextlib.contextmanager
    def no_bar(_name, _n_calls):
        yield lambda: None

    async with opened(api.settings(folder, **of_model), folder, api.model, Budget()) as door:
        batches = door.by_batch(folder, no_bar)
        await batches.load()
        batches._scouted = not ahead

        async def ask(*words):
            async def collect():
                batches.collecting = True
                await asyncio.gather(*(door.ask(prompt(each)) for each in words), return_exceptions=True)
                batches.collecting = False

            await collect()
            while await batches.round():
                await collect()
            return await asyncio.gather(*(door.ask(prompt(each)) for each in words), return_exceptions=True)

        yield ask
        batches.close()


def scores(replies):
    return [getattr(getattr(reply, "value", None), "score", reply) for reply in replies]


async def test_calls_are_one_batch_and_their_bodies_those_of_single_calls(api, tmp_path):
    async with command(api, tmp_path, ahead=True) as ask:
        assert scores(await ask(*WORDS)) == [2, 2, 2]
    assert (api.n_single, [len(batch.calls) for batch in api.made]) == (1, [2])
    (_name, body), *_ = api.made[0].calls
    assert body["model"] == api.model.partition("/")[2]
    if isinstance(api, AnthropicBatches):
        assert body["tool_choice"]["type"] == "tool"
        assert body["tools"][0]["input_schema"]["properties"].keys() >= {"reason", "score"}
    else:
        assert body["response_format"]["type"] == "json_schema"


async def test_each_call_has_its_own_status(api, tmp_path):
    api.script = in_turn(verdict(1), REFUSED, say("", refusal="I will not"), verdict(3))
    async with command(api, tmp_path) as ask:
        good, refused, declined, last = await ask(*WORDS, "Judge number 4.")
    assert (good.value.score, last.value.score) == (1, 3)
    assert (refused.status, declined.status) == ("error", "refused")
    assert "text too long" in str(refused)
    assert len(api.made) == 1


async def test_of_an_expired_batch_the_finished_part_is_kept_and_the_rest_submitted_anew(api, tmp_path):
    api.ends, api.n_unfinished = ["expired"], 2
    async with command(api, tmp_path) as ask:
        assert scores(await ask(*WORDS)) == [2, 2, 2]
    first, second = api.made
    assert second.keys == first.keys[-2:]


async def test_a_cancelled_batch_stops_the_command_and_the_next_one_submits_the_rest(says, api, tmp_path):
    api.ends, api.n_unfinished = ["cancelled"], 1
    async with command(api, tmp_path) as ask:
        with pytest.raises(ModelError) as caught:
            await ask(*WORDS)
    says(caught.value)
    async with command(api, tmp_path) as ask:
        assert scores(await ask(*WORDS)) == [2, 2, 2]
    assert [len(batch.calls) for batch in api.made] == [3, 1]


async def test_a_missing_result_is_submitted_anew_and_a_double_one_counts_once(api, tmp_path):
    api.n_missing, api.twice = 1, True
    async with command(api, tmp_path, price_usd_per_million={"input": 1, "output": 1}) as ask:
        replies = await ask(*WORDS)
    assert scores(replies) == [2, 2, 2]
    assert [len(batch.calls) for batch in api.made] == [3, 1]


async def test_a_lost_reply_to_the_making_makes_no_second_batch(api, tmp_path):
    api.lose_replies = 1
    async with command(api, tmp_path) as ask:
        assert scores(await ask(*WORDS)) == [2, 2, 2]
    assert len(api.made) == 1


@pytest.mark.long
@pytest.mark.parametrize("nth", range(3))
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_killed_at_any_note_nothing_is_paid_for_twice(api, tmp_path, monkeypatch, nth, after):
    whole, seen = BatchJournal.note, []

    def note(self, entry):
        seen.append(entry)
        dies = len(seen) == nth + 1
        if not dies or after:
            whole(self, entry)
        if dies:
            raise Killed

    monkeypatch.setattr(BatchJournal, "note", note)
    with pytest.raises(Killed):
        async with command(api, tmp_path) as ask:
            await ask(*WORDS)
    monkeypatch.setattr(BatchJournal, "note", whole)
    async with command(api, tmp_path) as ask:
        assert scores(await ask(*WORDS)) == [2, 2, 2]
    assert len(api.made) == 1


async def test_killed_between_results_and_ledger_the_batch_is_read_again(api, tmp_path, monkeypatch):
    whole = batch_api.read_result

    def dies(*_of_result):
        raise Killed

    monkeypatch.setattr("ragstone.kernel.llm._batch.read_result", dies)
    with pytest.raises(Killed):
        async with command(api, tmp_path) as ask:
            await ask(*WORDS)
    monkeypatch.setattr("ragstone.kernel.llm._batch.read_result", whole)
    async with command(api, tmp_path) as ask:
        assert scores(await ask(*WORDS)) == [2, 2, 2]
    assert len(api.made) == 1


# Anthropic refuses a wrong batch when it is made: none of its batches fails as a whole.
@pytest.mark.parametrize("api", [each for each in APIS if each is not AnthropicBatches], indirect=True)
async def test_a_failed_batch_is_told_in_the_providers_words(says, api, tmp_path):
    api.ends = ["failed"]
    async with command(api, tmp_path) as ask:
        with pytest.raises(ModelError) as caught:
            await ask(*WORDS)
    says(caught.value)


async def test_a_discount_of_the_settings_holds_and_else_none_behind_another_address(api, tmp_path):
    price = {"input": 1.0, "output": 2.0}
    async with command(api, tmp_path / "full", price_usd_per_million=price) as ask:
        (full,) = await ask(WORDS[0])
    async with command(api, tmp_path / "half", price_usd_per_million=price, batch_discount=0.5) as ask:
        (half,) = await ask(WORDS[0])
    assert half.cost_usd == pytest.approx(full.cost_usd / 2)


@pytest.mark.parametrize("api", [AnthropicBatches], indirect=True)
async def test_of_two_batches_of_one_size_the_one_with_our_tag_is_ours(api, tmp_path, monkeypatch):
    whole = BatchJournal.note

    def dies_with_the_id(self, entry):
        if entry.batch:
            raise Killed
        whole(self, entry)

    monkeypatch.setattr(BatchJournal, "note", dies_with_the_id)
    with pytest.raises(Killed):
        async with command(api, tmp_path) as ask:
            await ask(*WORDS)
    monkeypatch.setattr(BatchJournal, "note", whole)
    others = [(f"somebody-else-{n}", body) for n, (_name, body) in enumerate(api.made[0].calls)]
    api.start(others, {})
    async with command(api, tmp_path) as ask:
        assert scores(await ask(*WORDS)) == [2, 2, 2]
    assert len(api.made) == 2
    assert all(batch.n_looks for batch in api.made)


@pytest.mark.parametrize("api", [AnthropicBatches], indirect=True)
async def test_where_all_candidates_are_of_others_the_calls_are_submitted(api, tmp_path, monkeypatch):
    whole = BatchJournal.note

    def dies_before_the_making(self, entry):
        whole(self, entry)
        raise Killed

    monkeypatch.setattr(BatchJournal, "note", dies_before_the_making)
    with pytest.raises(Killed):
        async with command(api, tmp_path) as ask:
            await ask(*WORDS)
    monkeypatch.setattr(BatchJournal, "note", whole)
    others = [(f"somebody-else-{n}", {"messages": [], "max_tokens": 1}) for n in range(3)]
    api.start(others, {})
    api.start(others, {}).created = "2001-01-01T00:00:00Z"  # long before ours was noted
    async with command(api, tmp_path) as ask:
        assert scores(await ask(*WORDS)) == [2, 2, 2]
    assert [batch.n_looks > 0 for batch in api.made] == [True, False, True]
    assert api.made[2].keys != api.made[0].keys


@pytest.mark.parametrize("api", [GeminiBatches], indirect=True)
async def test_an_upload_that_is_sent_elsewhere_stops_and_no_key_goes_there(says, api, tmp_path, monkeypatch):
    address = api.address
    api.settings = lambda folder, whole=api.settings: whole(folder)
    async with command(api, tmp_path) as ask:
        api.address = "http://127.0.0.1:1"
        with pytest.raises(ModelError) as caught:
            await ask(*WORDS)
    says(str(caught.value).replace(address, "http://ADDRESS"))
    assert not api.made
