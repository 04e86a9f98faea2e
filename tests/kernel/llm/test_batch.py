"""Batches without a command around them: what is noted, found again, split, lost and refused."""

import asyncio
import contextlib
import functools
import json
import os
import time

import msgspec
import pytest
from tests.support.doors import opened, prompt, verdict
from tests.support.fake_batches import calls_in
from tests.support.scripts import always, say

from ragstone.kernel.config import Price
from ragstone.kernel.errors import DataError, ModelError
from ragstone.kernel.llm import Budget, CallFailed, Caps
from ragstone.kernel.llm import _batch_api as batch_api
from ragstone.kernel.llm import _batch_files as batch_files
from ragstone.kernel.llm._batch import BatchDraft, BatchJournal, read_calls
from ragstone.kernel.llm._batch_anthropic import ANTHROPIC
from ragstone.kernel.llm._batch_api import BatchEntry


class Command:
    """One command: a door with batches, and its budget; opened anew, it is the next command."""

    def __init__(self, door, batches, budget):
        self.door, self.batches, self.budget = door, batches, budget

    async def collect(self, *prompts):
        """Ask, as the first pass over the rows does."""
        self.batches.collecting = True
        await asyncio.gather(*(self.door.ask(one) for one in prompts), return_exceptions=True)
        self.batches.collecting = False

    async def ask(self, *prompts):
        """Return the replies or failures, after as many rounds as it takes."""
        await self.collect(*prompts)
        while await self.batches.round():
            await self.collect(*prompts)
        return await asyncio.gather(*(self.door.ask(one) for one in prompts), return_exceptions=True)


@pytest.fixture
def command(fake_openai, tmp_path):
    """Gives a command; its first call has been sent ahead, unless there is one in the ledger."""
    fake_openai.script = always(verdict(2))

    @contextlib.asynccontextmanager
    async def run(*, ahead=True, caps=None, **of_model):
        settings = fake_openai.settings(root=tmp_path, **{"batch_poll_s": 0.001, **of_model})
        budget = Budget(caps)

        @contextlib.contextmanager
        def no_bar(_name, _n_calls):
            yield lambda: None

        async with opened(settings, tmp_path, budget=budget) as door:
            batches = door.by_batch(tmp_path, no_bar)
            await batches.load()
            batches._scouted = not ahead
            yield Command(door, batches, budget)
            batches.close()

    return run


async def killed_in_a_round(command, fake_openai):
    """Submit what was collected, and end while the batch is waited for."""
    waiting = asyncio.create_task(command.batches.round())
    async with asyncio.timeout(60):
        while not fake_openai.batches.n_looks:  # noqa: ASYNC110 - the server is another thread
            await asyncio.sleep(0.005)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


def words(*numbers):
    return [prompt(f"Judge number {n}.") for n in numbers]


async def test_the_first_call_is_sent_ahead_and_the_others_are_one_batch(command, fake_openai):
    async with command() as now:
        replies = await now.ask(*words(1, 2, 3))
    assert [reply.value.score for reply in replies] == [2, 2, 2]
    assert fake_openai.n_requests == 1
    assert [len(calls_in(upload)) for upload in fake_openai.batches.uploads] == [2]
    assert (now.budget.made, now.budget.from_ledger, now.budget.in_flight) == (3, 0, 0)


async def test_a_call_that_two_rows_need_is_submitted_once(command, fake_openai):
    async with command(ahead=False) as now:
        await now.ask(*words(1, 1, 2))
    assert fake_openai.batches.n_calls == 2
    assert (now.budget.made, now.budget.from_ledger) == (2, 1)


@pytest.mark.parametrize(("limit", "most"), [("MOST_CALLS", 2), ("MOST_BYTES", 1_400)])
async def test_calls_beyond_the_limits_of_a_file_go_into_another_batch(
    command, fake_openai, monkeypatch, limit, most
):
    monkeypatch.setattr(f"ragstone.kernel.llm._batch.{limit}", most)
    async with command(ahead=False) as now:
        replies = await now.ask(*words(1, 2, 3, 4, 5))
    assert [reply.value.score for reply in replies] == [2] * 5
    assert [len(batch.calls) for batch in fake_openai.batches.made] == [2, 2, 1]


async def test_the_next_command_waits_for_what_this_one_submitted(command, fake_openai):
    async with command(ahead=False) as killed:
        await killed.collect(*words(1, 2))
        fake_openai.batches.takes_looks = 1_000_000
        await killed_in_a_round(killed, fake_openai)
    fake_openai.batches.takes_looks = 1
    async with command(ahead=False) as now:
        replies = await now.ask(*words(1, 2, 3))
    assert [reply.value.score for reply in replies] == [2] * 3
    assert [len(batch.calls) for batch in fake_openai.batches.made] == [2, 1]
    assert (now.budget.made, now.budget.from_ledger) == (1, 2)


async def test_a_batch_of_which_nothing_is_needed_is_not_waited_for(command, fake_openai):
    async with command(ahead=False) as other:
        await other.collect(*words(1))
        fake_openai.batches.takes_looks = 1_000_000
        await killed_in_a_round(other, fake_openai)
    fake_openai.batches.n_looks = 0
    async with command(ahead=False) as now:
        await now.collect()
        assert not await now.batches.round()
    assert fake_openai.batches.n_looks == 0


async def test_when_the_reply_to_the_submission_is_lost_the_batch_is_found_and_not_made_again(
    command, fake_openai
):
    fake_openai.batches.lose_replies = 1
    async with command(ahead=False) as now:
        await now.ask(*words(1, 2))
    assert len(fake_openai.batches.made) == 1


async def test_killed_before_the_id_was_noted_the_batch_is_found_by_its_tag(command, fake_openai, tmp_path):
    async with command(ahead=False) as killed:
        await killed.ask(*words(1, 2))
    tag = fake_openai.batches.made[0].order["metadata"]["ragstone"]
    forget_replies(tmp_path)
    journal = BatchJournal(tmp_path)
    journal.path.unlink()
    journal.note(BatchEntry(tag=tag, model=killed.door.endpoint.identity))
    journal.calls_of(tag).write_bytes(fake_openai.batches.uploads[0])
    async with command(ahead=False) as now:
        replies = await now.ask(*words(1, 2))
    assert [reply.value.score for reply in replies] == [2, 2]
    assert len(fake_openai.batches.made) == 1


async def test_killed_before_it_was_submitted_it_is_submitted_now(command, fake_openai, tmp_path):
    journal = BatchJournal(tmp_path)
    async with command(ahead=False) as killed:
        await killed.collect(*words(1, 2))
        draft = killed.batches._drafts[0]
        draft.close()
        killed.batches._drafts = []
        journal.note(BatchEntry(tag=draft.tag, model=killed.door.endpoint.identity))
    async with command(ahead=False) as now:
        await now.ask(*words(1, 2))
    assert [len(batch.calls) for batch in fake_openai.batches.made] == [2]


async def test_looks_that_fail_are_outlasted(command, fake_openai):
    fake_openai.batches.broken_looks = 2
    async with command(ahead=False) as now:
        replies = await now.ask(*words(1))
    assert replies[0].value.score == 2


async def test_an_endpoint_that_is_gone_for_long_ends_it_and_the_batch_is_picked_up_later(
    says, command, fake_openai, monkeypatch
):
    monkeypatch.setattr(batch_api, "ATTEMPTS", 1)
    fake_openai.batches.broken_looks = 1
    async with command(ahead=False) as now:
        with pytest.raises(ModelError) as caught:
            await now.ask(*words(1))
        says(caught.value)
    async with command(ahead=False) as now:
        await now.ask(*words(1))
    assert len(fake_openai.batches.made) == 1


async def test_a_batch_that_the_provider_does_not_know_is_told_and_not_submitted_again(
    says, command, fake_openai, tmp_path
):
    fake_openai.batches.takes_looks = 1_000_000
    async with command(ahead=False) as killed:
        await killed.collect(*words(1))
        await killed_in_a_round(killed, fake_openai)
    fake_openai.batches.made.clear()
    async with command(ahead=False) as now:
        with pytest.raises(ModelError) as caught:
            await now.ask(*words(1))
        says(caught.value)
    assert not fake_openai.batches.made


async def test_the_deadline_of_the_run_ends_the_waiting_and_not_the_batch(command, fake_openai):
    fake_openai.batches.takes_looks = 1_000_000
    async with command(ahead=False, caps=Caps(seconds=0.3)) as now:
        failures = await now.ask(*words(1))
    assert [failure.status for failure in failures] == ["timeout"]
    fake_openai.batches.takes_looks = 1
    async with command(ahead=False) as now:
        replies = await now.ask(*words(1))
    assert replies[0].value.score == 2
    assert len(fake_openai.batches.made) == 1


async def test_lines_that_are_not_ours_are_passed_over_and_a_lost_one_is_submitted_anew(
    command, fake_openai, monkeypatch
):
    async def torn(wire, file_id, whole=batch_files._download):
        lines = (await whole(wire, file_id)).splitlines()
        strange = [json.dumps({"custom_id": "0" * 32, "response": None}).encode(), b"{torn", b"[]"]
        strange.append(b'{"custom_id": "no key of ours", "response": null}')
        kept = lines if file_id != "file-batch_1-output_file_id" else lines[:-1]
        return b"\n".join([*kept, *strange])

    first = batch_files.FILE_PROTOCOLS["openai"]
    results = functools.partial(batch_files._results, download=torn)
    changed = {"openai": msgspec.structs.replace(first, results=results)}
    monkeypatch.setattr(batch_files, "FILE_PROTOCOLS", changed)
    async with command(ahead=False) as now:
        replies = await now.ask(*words(1, 2, 3))
    assert [reply.value.score for reply in replies] == [2] * 3
    assert [len(batch.calls) for batch in fake_openai.batches.made] == [3, 1]


async def test_what_the_provider_refuses_is_not_submitted_twice(command, fake_openai):
    fake_openai.script = always(say("", refusal="I will not"))
    async with command(ahead=False) as now:
        failures = await now.ask(*words(1, 2))
    assert [failure.status for failure in failures] == ["refused", "refused"]
    assert all(isinstance(failure, CallFailed) for failure in failures)
    assert fake_openai.batches.n_calls == 2


async def test_a_money_cap_holds_at_the_discounted_price_and_an_unknown_price_stays_unknown(
    command, fake_openai
):
    price = {"input": 100.0, "output": 100.0}  # a call costs 0.036 USD at most, 0.018 at the discount
    most = {"ahead": False, "caps": Caps(usd=0.06), "price_usd_per_million": price}
    async with command(**most) as full:
        await full.collect(*words(1, 2, 3))
        assert full.budget.in_flight == 1
    async with command(**most, batch_discount=0.5) as halved:
        await halved.collect(*words(1, 2, 3))
        assert halved.budget.in_flight == 3
    async with command(ahead=False, batch_discount=0.5) as unknown:
        replies = await unknown.ask(*words(1))
    assert replies[0].cost_usd is None
    assert unknown.budget.usd is None


async def test_what_killed_commands_left_behind_is_deleted_after_an_hour(command, tmp_path):
    journal = BatchJournal(tmp_path)
    old, young = BatchDraft(journal), BatchDraft(journal)
    for draft in (old, young):
        draft.close()
    an_hour_ago = time.time() - 3_700
    os.utime(old.path, (an_hour_ago, an_hour_ago))
    async with command():
        pass
    assert (old.path.exists(), young.path.exists()) == (False, True)


def test_a_line_of_the_journal_that_a_kill_cut_off_never_held(tmp_path):
    journal = BatchJournal(tmp_path)
    journal.note(BatchEntry(tag="a", model="m"))
    with journal.path.open("ab") as file:
        file.write(b'\n{"tag": "b", "mod')
    journal.note(BatchEntry(tag="a", model="m", batch="batch_1"))
    journal.note(BatchEntry(tag="c", model="other"))
    assert journal.unsettled("m") == [BatchEntry(tag="a", model="m", batch="batch_1")]
    journal.note(BatchEntry(tag="a", model="m", batch="batch_1", settled=True))
    assert journal.unsettled("m") == []


def test_a_file_of_calls_tells_the_keys_of_the_ledger_and_the_logprobs(tmp_path):
    path = tmp_path / "calls.jsonl"
    write = batch_files.OPENAI.line
    path.write_bytes(write("tag", "01" * 16, b'{"top_logprobs":3}') + write("tag", "02" * 16, b"{}"))
    assert read_calls(path) == {b"\x01" * 16: 3, b"\x02" * 16: None}
    path.write_bytes(ANTHROPIC.line("tag", "03" * 16, b'{"max_tokens":3}'))
    assert read_calls(path) == {b"\x03" * 16: None}


async def test_a_batch_that_may_have_been_made_is_looked_for_after_a_day_too(command, fake_openai, tmp_path):
    async with command(ahead=False) as killed:
        await killed.ask(*words(1, 2))
    tag = fake_openai.batches.made[0].order["metadata"]["ragstone"]
    forget_replies(tmp_path)
    journal = BatchJournal(tmp_path)
    journal.path.unlink()
    journal.note(BatchEntry(tag=tag, model=killed.door.endpoint.identity, noted=1.0))
    calls = journal.calls_of(tag)
    calls.write_bytes(fake_openai.batches.uploads[0])
    os.utime(calls, (1.0, 1.0))
    async with command(ahead=False) as now:
        replies = await now.ask(*words(1, 2))
    assert [reply.value.score for reply in replies] == [2, 2]
    assert len(fake_openai.batches.made) == 1


async def test_one_that_was_never_made_is_forgotten_after_an_hour(command, fake_openai, tmp_path):
    journal = BatchJournal(tmp_path)
    identity = "openai/fake@" + fake_openai.base_url.partition("//")[2]
    write = batch_files.OPENAI.line
    for tag, noted in (("old", 1.0), ("young", time.time())):
        journal.note(BatchEntry(tag=tag, model=identity, noted=noted))
        journal.folder.mkdir(exist_ok=True)
        journal.calls_of(tag).write_bytes(write(tag, "01" * 16, b"{}"))
    async with command(ahead=False):
        pass
    assert [entry.tag for entry in journal.unsettled(identity)] == ["young"]


def test_a_journal_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        BatchJournal(tmp_path / "file").note(BatchEntry(tag="a", model="m"))


def forget_replies(folder):
    for path in folder.glob("ledger*"):
        path.unlink()


def test_a_price_is_known_to_the_cent_after_the_discount():
    from ragstone.kernel.llm.budget import discounted

    assert discounted(Price(input=2, output=4, cached=1), 0.5) == Price(input=1, output=2, cached=0.5)
    assert discounted(None, 0.5) is None


def cut_below(n_needed):
    """Says a verdict where there is so much room, and is cut off where there is less."""

    def script(body):
        limit = body["max_tokens"]
        if limit < n_needed:
            thought = {"reasoning_tokens": limit}
            usage = {"prompt_tokens": 9, "completion_tokens": limit, "completion_tokens_details": thought}
            return say("", finish_reason="length", usage=usage)
        return verdict(2)

    return script


def limits_of(upload):
    return [call["max_tokens"] for call in calls_in(upload)]


async def test_a_reply_that_was_cut_off_goes_into_the_next_batch_with_more_room_under_its_key(
    command, fake_openai
):
    fake_openai.script = cut_below(2_000)
    async with command(ahead=False) as now:
        replies = await now.ask(*words(1, 2))
    assert [reply.value.score for reply in replies] == [2, 2]
    first, second = fake_openai.batches.made
    assert [limits_of(upload) for upload in fake_openai.batches.uploads] == [[100, 100], [4196, 4196]]
    assert sorted(first.keys) == sorted(second.keys)


async def test_one_that_is_cut_off_again_is_told_and_not_submitted_a_third_time(says, command, fake_openai):
    fake_openai.script = cut_below(10**9)
    async with command(ahead=False) as now:
        (failure,) = await now.ask(*words(1))
    assert failure.status == "unparsable"
    says(failure)
    assert [limits_of(upload) for upload in fake_openai.batches.uploads] == [[100], [4196]]


async def test_what_failed_in_an_earlier_command_is_asked_anew_through_the_batch(command, fake_openai):
    fake_openai.script = lambda body: verdict(1) if "number 1" in str(body) else "no verdict"
    async with command(ahead=False) as earlier:
        replies = await earlier.ask(*words(1, 2))
    assert replies[0].value.score == 1
    assert replies[1].status == "unparsable"
    n_before = len(fake_openai.batches.made)
    fake_openai.script = always(verdict(2))
    async with command(ahead=False) as now:
        replies = await now.ask(*words(1, 2))
    assert [reply.value.score for reply in replies] == [1, 2]
    (batch,) = fake_openai.batches.made[n_before:]
    assert len(batch.calls) == 1  # the one that failed
    assert fake_openai.n_requests == 0
