"""The door itself: ledger, re-ask, retries, joining, cancellation, statuses."""

import asyncio
import contextlib
import json
import logging
import sqlite3
import time
from pathlib import Path

import msgspec
import pytest
from tests.support.doors import NONCE, Model, Verdict, door_to, opened, prompt, until, verdict
from tests.support.scripts import hang

from ragstone.kernel.config import ModelSettings, Price, Settings
from ragstone.kernel.errors import DataError, ModelError
from ragstone.kernel.llm import (
    Budget,
    CallFailed,
    Caps,
    Door,
    Ledger,
    Message,
    NoProbabilities,
    Prompt,
    open_door,
)
from ragstone.kernel.llm.door import prompt_key
from ragstone.kernel.llm.failures import Unreachable
from ragstone.kernel.llm.ledgers import ledger_place
from ragstone.kernel.llm.limits import HANGING, RUN
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.records import Usage

BROKEN = CallFailed("error", "HTTP 500", retryable=True)
LIMITED = CallFailed("rate_limited", "HTTP 429", retryable=True)


async def failure_of(door: Door, asked: Prompt) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        await door.ask(asked)
    return caught.value


class TestReply:
    async def test_a_reply_is_a_value_of_the_type_asked_for_with_its_cost(self, tmp_path):
        price = Price(input=1.0, output=2.0)
        said = Completion(text=verdict(1), usage=Usage(input=10, output=5), latency_s=0.5)
        with door_to(Model(said).send, tmp_path, price=price) as door:
            reply = await door.ask(prompt())
        assert reply.value == Verdict("as the texts say", 1)
        assert (reply.usage, reply.latency_s) == (Usage(input=10, output=5), 0.5)
        assert reply.cost_usd == pytest.approx(20e-6)  # 10 x 1 + 5 x 2 micro-dollars

    async def test_free_text_has_no_value(self, tmp_path):
        with door_to(Model("At the V6 stage.").send, tmp_path) as door:
            reply = await door.ask(prompt(reply=None, nonce=None))
        assert (reply.text, reply.value) == ("At the V6 stage.", None)

    async def test_settings_price_goes_before_the_transports(self, tmp_path):
        settings = ModelSettings(price_usd_per_million=Price(input=0, output=0))
        with door_to(Model().send, tmp_path, price=Price(input=9, output=9), settings=settings) as door:
            assert (await door.ask(prompt())).cost_usd == 0


class TestProbabilities:
    async def test_a_model_that_gives_none_is_asked_for_them_once(self, says, tmp_path):
        model = Model("yes")
        asked = [
            msgspec.structs.replace(prompt(reply=None, nonce=None), top_logprobs=5, sample=at)
            for at in (0, 1)
        ]
        with door_to(model.send, tmp_path) as door:
            assert (await door.ask(asked[0])).logprobs is None
            with pytest.raises(NoProbabilities) as caught:
                await door.ask(asked[1])
            says(caught.value)
            assert (await door.ask(prompt(reply=None, nonce=None))).text == "yes"
        assert len(model.asked) == 2


class TestReAsk:
    async def test_an_unusable_reply_is_asked_for_once_more_with_what_was_wrong(self, says, tmp_path):
        model = Model(verdict(9), verdict(3))
        with door_to(model.send, tmp_path) as door:
            reply = await door.ask(prompt("Judge this."))
        assert reply.value.score == 3
        assert reply.usage == Usage(input=20, output=10, calls=2)
        first, second = model.asked
        assert second.messages[:1] == first.messages
        assert second.messages[1] == Message("assistant", verdict(9))
        says(second.messages[2].content)

    async def test_a_second_unusable_reply_is_unparsable_with_the_raw_text_kept(self, tmp_path):
        model = Model(verdict(9), "I would say 3.")
        budget = Budget()
        with door_to(model.send, tmp_path, budget=budget) as door:
            failure = await failure_of(door, prompt())
        assert (failure.status, failure.raw) == ("unparsable", "I would say 3.")
        assert failure.usage == Usage(input=20, output=10, calls=2)
        assert len(model.asked) == 2
        assert budget.failed == {"unparsable": 1}

    async def test_a_reply_that_was_cut_off_is_asked_for_again_with_more_room_and_no_plea(self, tmp_path):
        cut = Completion(text=verdict()[:40], finish_reason="length", usage=Usage(input=10, output=100))
        model, budget = Model(cut, verdict(1)), Budget()
        with door_to(model.send, tmp_path, budget=budget) as door:
            reply = await door.ask(prompt(max_tokens=100))
        assert reply.value.score == 1
        assert reply.usage == Usage(input=10, output=5)  # rows do not tell when the room was learnt
        assert (budget.usage, budget.cut_off) == (reply.usage, Usage(input=10, output=100))
        first, second = model.asked
        assert second.messages == first.messages
        assert (first.limit, second.limit) == (100, 400)  # four times as much: it did not think

    async def test_if_the_second_call_fails_the_first_is_still_paid_for_and_shown(self, tmp_path):
        model = Model("I would say 3.", CallFailed("timeout", "too slow"))
        with door_to(model.send, tmp_path) as door:
            failure = await failure_of(door, prompt())
        assert (failure.status, failure.raw) == ("timeout", "I would say 3.")
        assert failure.usage == Usage(input=10, output=5)

    async def test_a_rerun_asks_anew_for_what_was_of_no_use_and_for_nothing_else(self, tmp_path):
        with door_to(Model("prose", "prose", verdict(2)).send, tmp_path) as door:
            await failure_of(door, prompt("bad"))
            await door.ask(prompt("good"))
        mended = Model(verdict(3))
        with door_to(mended.send, tmp_path) as door:
            reply = await door.ask(prompt("bad"))
            assert (reply.value.score, reply.usage.calls) == (3, 1)
            assert (await door.ask(prompt("good"))).value.score == 2
        assert [one.messages[0].content for one in mended.asked] == ["bad"]
        silent = Model(AssertionError("a call was repeated"))
        with door_to(silent.send, tmp_path) as door:
            assert (await door.ask(prompt("bad"))).value.score == 3

    @pytest.mark.parametrize("how", [{"offline": True, "keep_failures": True}, {"keep_failures": True}])
    async def test_failures_are_replayed_where_that_is_asked_for(self, how, tmp_path):
        with door_to(Model("prose", "more prose").send, tmp_path) as door:
            await failure_of(door, prompt())
        silent = Model(AssertionError("a call was repeated"))
        with door_to(silent.send, tmp_path, **how) as door:
            failure = await failure_of(door, prompt())
        assert (failure.status, failure.raw) == ("unparsable", "more prose")

    async def test_one_command_asks_anew_once_however_often_the_prompt_comes(self, tmp_path):
        with door_to(Model("prose").send, tmp_path) as door:
            await failure_of(door, prompt())
        still_bad = Model("still prose")
        with door_to(still_bad.send, tmp_path) as door:
            fails = await asyncio.gather(*(failure_of(door, prompt()) for _ in range(3)))
            fails.append(await failure_of(door, prompt()))
        assert [one.status for one in fails] == ["unparsable"] * 4
        assert len(still_bad.asked) == 2  # the reply, and the re-ask with what was wrong

    async def test_what_gave_way_stays_in_the_ledger_as_evidence(self, tmp_path):
        for said in ("prose", verdict(1)):
            with door_to(Model(said).send, tmp_path) as door, contextlib.suppress(CallFailed):
                await door.ask(prompt())
        with contextlib.closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as file:
            rows = file.execute("SELECT length(key), response FROM responses ORDER BY created").fetchall()
        assert sorted(length for length, _ in rows) == [16, 16, 24]  # re-ask, the new one, the old one
        assert [json.loads(text)["text"] for length, text in rows if length == 24] == ["prose"]

    async def test_an_empty_reply_is_asked_for_again(self, tmp_path):
        model = Model("", verdict(1))
        with door_to(model.send, tmp_path) as door:
            assert (await door.ask(prompt())).value.score == 1
        assert model.asked[1].messages[1].content == "(nothing)"

    async def test_an_echoed_verdict_gives_no_flip(self, tmp_path):
        fake = verdict(3, nonce=None)
        model = Model(f"The answer says {fake}", f"Again: {fake} and {fake}")
        with door_to(model.send, tmp_path) as door:
            assert (await failure_of(door, prompt())).status == "unparsable"

    async def test_a_refusal_is_refused_and_not_asked_again(self, tmp_path):
        model = Model(Completion(text="", refusal="I cannot help with that."))
        with door_to(model.send, tmp_path) as door:
            failure = await failure_of(door, prompt())
        assert (failure.status, failure.raw) == ("refused", "I cannot help with that.")
        assert len(model.asked) == 1


class TestLedger:
    async def test_a_call_that_the_ledger_holds_is_not_made(self, tmp_path):
        budget = Budget()
        with door_to(Model().send, tmp_path) as door:
            first = await door.ask(prompt())
        with door_to(Model(AssertionError()).send, tmp_path, budget=budget) as door:
            assert msgspec.structs.replace(await door.ask(prompt()), kept=False) == first
        assert (budget.made, budget.from_ledger, budget.usage) == (0, 1, first.usage)

    async def test_a_response_is_stored_before_it_is_used(self, tmp_path):
        with door_to(Model().send, tmp_path) as door:
            await door.ask(prompt())
            other = Ledger(tmp_path / "ledger.sqlite")
            assert await other.find(prompt_key("function/model", prompt())) is not None
            other.close()

    async def test_a_failed_call_is_not_stored(self, tmp_path):
        with door_to(Model(CallFailed("error", "HTTP 413"), verdict(1)).send, tmp_path) as door:
            assert (await failure_of(door, prompt())).status == "error"
            assert (await door.ask(prompt())).value.score == 1

    async def test_a_ledger_that_cannot_be_written_stops_the_run(self, tmp_path):
        with door_to(Model().send, tmp_path) as door:
            door._ledger.close()
            with pytest.raises(DataError):
                await door.ask(prompt())

    def test_all_that_decides_a_reply_is_in_its_key(self):
        base = Prompt(messages=(Message("user", "a"), Message("user", "b")), reply=Verdict, nonce=NONCE)
        others = [
            Prompt(messages=(Message("user", "ab"),), reply=Verdict, nonce=NONCE),
            Prompt(messages=(Message("system", "a"), Message("user", "b")), reply=Verdict, nonce=NONCE),
            Prompt(messages=base.messages, reply=Verdict, nonce="9" * 10),
            Prompt(messages=base.messages, reply=Verdict),
            Prompt(messages=base.messages),
            Prompt(messages=base.messages, reply=Verdict, nonce=NONCE, max_tokens=7),
            Prompt(messages=base.messages, reply=Verdict, nonce=NONCE, temperature=0.7),
            Prompt(messages=base.messages, reply=Verdict, nonce=NONCE, sample=1),
        ]
        keys = {prompt_key("m", each) for each in [base, *others]} | {prompt_key("other", base)}
        assert len(keys) == len(others) + 2

    def test_a_key_stays_the_same_from_version_to_version(self):
        # If this fails, every ledger in the world is worth nothing: that needs a new FORMAT and a note.
        asked = Prompt(messages=(Message("user", "Judge this."),), nonce=NONCE)
        assert prompt_key("openai/m", asked).hex() == "3df7d9d373532f47d217e0e8bd820968"

    def test_the_ledger_stands_in_the_projects_folder(self):
        assert ledger_place(Settings(root="/p")) == Path("/p/.ragstone/ledger.sqlite")


class TestOffline:
    async def test_what_the_ledger_holds_is_answered(self, tmp_path):
        with door_to(Model().send, tmp_path) as door:
            first = await door.ask(prompt())
        with door_to(Model(AssertionError()).send, tmp_path, offline=True) as door:
            assert msgspec.structs.replace(await door.ask(prompt()), kept=False) == first

    async def test_what_it_lacks_is_named(self, says, tmp_path):
        with door_to(Model(AssertionError()).send, tmp_path, offline=True) as door:
            failure = await failure_of(door, prompt("Judge row 17."))
        assert failure.status == "error"
        says(failure)

    async def test_the_recorded_transport_needs_no_key_and_no_network(self, tmp_path):
        ledger = Ledger(tmp_path / "l")
        said = Completion(text=verdict(1))
        await ledger.put(prompt_key("openai/gpt-4o-mini", prompt()), "openai/gpt-4o-mini", said)
        async with open_door("recorded/openai/gpt-4o-mini", Settings(), ledger) as door:
            assert (await door.ask(prompt())).value.score == 1
            assert "offline" in str(await failure_of(door, prompt("another")))
        ledger.close()


class TestName:
    @pytest.mark.parametrize("name", ["gpt-4o-mini", "opnai/gpt-4o", "openai/", "", "recorded/gpt-4o"])
    async def test_an_unknown_model_or_transport_is_told_how_models_are_named(self, says, name, tmp_path):
        with pytest.raises(ModelError) as caught:
            async with opened(Settings(), tmp_path, name):
                pass
        says(caught.value)

    async def test_the_nearest_transport_is_named(self, says, tmp_path):
        with pytest.raises(ModelError) as caught:
            async with opened(Settings(), tmp_path, "opnai/gpt-4o"):
                pass
        says(caught.value)


class TestRetries:
    async def test_a_passing_failure_is_tried_again(self, tmp_path):
        model, budget = Model(BROKEN, LIMITED, verdict(1)), Budget()
        with door_to(model.send, tmp_path, budget=budget) as door:
            assert (await door.ask(prompt())).value.score == 1
        assert (len(model.asked), budget.retries, budget.made) == (3, 2, 3)

    async def test_attempts_are_few_before_the_first_answer_and_more_after_it(self, tmp_path):
        model = Model(BROKEN)
        with door_to(model.send, tmp_path) as door:
            await failure_of(door, prompt("a"))
            assert len(model.asked) == RUN.unproven
            model.said = [verdict(1)]
            await door.ask(prompt("b"))
            model.said, model.asked = [BROKEN], []
            await failure_of(door, prompt("c"))
            assert len(model.asked) == RUN.attempts

    async def test_the_status_says_what_it_failed_of(self, tmp_path):
        for said, status in (
            (LIMITED, "rate_limited"),
            (BROKEN, "error"),
            (CallFailed("timeout", "too slow", retryable=True), "timeout"),
        ):
            with door_to(Model(said).send, tmp_path) as door:
                assert (await failure_of(door, prompt())).status == status

    async def test_what_will_not_change_is_not_tried_again(self, tmp_path):
        model = Model(CallFailed("error", "HTTP 413"))
        with door_to(model.send, tmp_path) as door:
            await failure_of(door, prompt())
        assert len(model.asked) == 1

    async def test_a_timeout_is_tried_only_twice_more(self, tmp_path):
        model = Model(verdict(1), CallFailed("timeout", "too slow", retryable=True))
        with door_to(model.send, tmp_path) as door:
            await door.ask(prompt("first"))
            await failure_of(door, prompt("second"))
        assert len(model.asked) == 1 + 3

    async def test_an_endpoint_that_never_answers_stops_the_run_after_a_few_timeouts(self, says, tmp_path):
        model = Model(CallFailed("timeout", "did not answer in time", retryable=True))
        with door_to(model.send, tmp_path, concurrency=64) as door:
            asking = [door.ask(prompt(f"row {n}")) for n in range(200)]
            ends = await asyncio.gather(*asking, return_exceptions=True)
        assert len(model.asked) <= 64 + HANGING
        assert sum(not isinstance(end, CallFailed) for end in ends) >= 200 - HANGING
        says(ends[-1])

    async def test_nobody_there_stops_the_run_with_a_model_error(self, tmp_path, says):
        model, stopped = Model(Unreachable("http://x cannot be reached")), pytest.raises(ModelError)
        with door_to(model.send, tmp_path) as door, stopped as caught:
            await door.ask(prompt())
        assert type(caught.value) is ModelError
        says(str(caught.value))

    async def test_a_wrong_key_stops_every_call_at_once_and_asks_nobody_again(self, tmp_path, says):
        model = Model(ModelError("refused the key: no such key"))
        with door_to(model.send, tmp_path, concurrency=4) as door:
            asking = [door.ask(prompt(f"row {n}")) for n in range(50)]
            _, *ends = await asyncio.gather(model.answer_together(4), *asking, return_exceptions=True)
        assert len(model.asked) == 4
        says("\n".join({str(end) for end in ends}))

    async def test_refusals_lower_the_number_of_calls_at_once(self, tmp_path):
        model = Model(*[LIMITED] * 64, verdict(1))
        with door_to(model.send, tmp_path, concurrency=64) as door:
            asking = [door.ask(prompt(f"row {n}")) for n in range(64)]
            await asyncio.gather(model.answer_together(64), *asking)
            assert model.most_in_flight == 64
            assert 20 < door._caller.slots.allowed < 50

    @pytest.mark.long
    async def test_after_retry_after_nobody_asks_too_early_and_not_all_ask_at_once(self, tmp_path):
        limited = CallFailed("rate_limited", "HTTP 429", retryable=True, retry_after_s=1.0)
        times: list[float] = []
        model = Model(*[limited] * 8, verdict(1), latency_s=0.06)

        async def send(asked: Prompt) -> Completion:
            times.append(time.monotonic())
            return await model.send(asked)

        with door_to(send, tmp_path, concurrency=8) as door:
            asking = [door.ask(prompt(f"row {n}")) for n in range(30)]
            await asyncio.gather(model.answer_together(8), *asking)
        assert times[8] - times[7] >= 0.999
        later = times[8:12]
        assert later[-1] - later[0] > 0.001


class TestJoining:
    async def test_identical_calls_in_flight_are_one(self, tmp_path):
        model, budget = Model(latency_s=0.01), Budget()
        with door_to(model.send, tmp_path, budget=budget) as door:
            replies = await asyncio.gather(*(door.ask(prompt()) for _ in range(20)))
        assert len(model.asked) == 1
        assert replies == [replies[0]] * 20
        assert (budget.made, budget.from_ledger) == (1, 19)

    async def test_those_who_joined_a_call_share_its_failure(self, tmp_path):
        model, budget = Model(CallFailed("error", "HTTP 413"), latency_s=0.01), Budget()
        with door_to(model.send, tmp_path, budget=budget) as door:
            ends = await asyncio.gather(*(door.ask(prompt()) for _ in range(5)), return_exceptions=True)
        assert len(model.asked) == 1
        assert all(isinstance(end, CallFailed) for end in ends)
        assert budget.failed == {"error": 5}

    async def test_when_the_one_who_calls_is_cancelled_another_makes_the_call(self, tmp_path):
        model = Model()
        model.go.clear()
        with door_to(model.send, tmp_path) as door:
            tasks = [asyncio.create_task(door.ask(prompt())) for _ in range(4)]
            await until(lambda: model.in_flight == 1)
            tasks[0].cancel()
            model.go.set()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(ends[0], asyncio.CancelledError)
        assert [end.value.score for end in ends[1:] if not isinstance(end, BaseException)] == [2, 2, 2]
        assert len(model.asked) == 2

    async def test_cancelling_one_who_waits_leaves_the_call_to_the_others(self, tmp_path):
        model = Model()
        model.go.clear()
        with door_to(model.send, tmp_path) as door:
            tasks = [asyncio.create_task(door.ask(prompt())) for _ in range(3)]
            await until(lambda: model.in_flight == 1)
            tasks[1].cancel()
            model.go.set()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert [isinstance(end, asyncio.CancelledError) for end in ends] == [False, True, False]
        assert len(model.asked) == 1


class TestCancelling:
    async def test_it_ends_the_request_and_frees_slot_and_reservation(self, fake_openai, tmp_path):
        settings, budget = fake_openai.settings(max_concurrency=2), Budget()
        async with opened(settings, tmp_path, fake_openai.model, budget) as door:
            await door.ask(prompt("the first, which is asked alone"))
            fake_openai.script = lambda _body: hang()
            tasks = [asyncio.create_task(door.ask(prompt(f"row {n}"))) for n in range(10)]
            await until(lambda: fake_openai.in_flight == 2)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert door._caller.slots.in_use == 0
            assert not door._flying
            assert not budget._reserved
            await until(lambda: fake_openai.in_flight == 0)
            fake_openai.script = lambda _body: verdict()
            assert (await door.ask(prompt("row 0"))).value.score == 2
        assert fake_openai.n_cut_off == 2

    async def test_a_cancelled_run_keeps_what_was_answered(self, tmp_path):
        model = Model(latency_s=0.01)
        with door_to(model.send, tmp_path, concurrency=4) as door:
            tasks = [asyncio.create_task(door.ask(prompt(f"row {n}"))) for n in range(40)]
            await until(lambda: sum(task.done() for task in tasks) >= 8)
            done = [n for n, task in enumerate(tasks) if task.done()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        with door_to(Model(AssertionError()).send, tmp_path) as door:
            for n in done:
                await door.ask(prompt(f"row {n}"))


@pytest.mark.long
async def test_requests_per_minute_are_kept_whatever_the_concurrency(fake_openai, tmp_path):
    settings = fake_openai.settings(requests_per_minute=60 * 50, max_concurrency=32)
    fake_openai.script = lambda _body: verdict()
    async with opened(settings, tmp_path) as door:
        began = time.monotonic()
        await asyncio.gather(*(door.ask(prompt(f"row {n}")) for n in range(40)))
    # A busy machine only delays them: none may arrive before its turn, 20 ms after the one before.
    assert all(at - began > n / 50 * 0.95 for n, at in enumerate(fake_openai.arrivals))


async def test_tokens_per_minute_are_kept(tmp_path):
    model = Model()
    # A prompt of some 150 tokens at most counts as a quarter of that; 20 of them are some 1,000 tokens.
    with door_to(model.send, tmp_path, settings=ModelSettings(tokens_per_minute=60 * 4000)) as door:
        started = time.monotonic()
        await asyncio.gather(*(door.ask(prompt(f"row {n}")) for n in range(20)))
    assert 0.15 < time.monotonic() - started < 60  # some minutes if each row counted as its most


async def test_a_cap_holds_over_the_network_even_while_the_endpoint_refuses_json_modes(fake_openai, tmp_path):
    fake_openai.refuse = {"json_schema", "tool"}
    fake_openai.script = lambda _body: verdict()
    fake_openai.latency_s = 0.002
    budget = Budget(Caps(calls=100))
    async with opened(fake_openai.settings(), tmp_path, fake_openai.model, budget) as door:
        asking = [door.ask(prompt(f"row {n}")) for n in range(300)]
        ends = await asyncio.gather(*asking, return_exceptions=True)
    assert fake_openai.n_requests == budget.made == 100
    assert all(isinstance(end, CallFailed) and end.status == "over_budget" for end in ends[-100:])


@pytest.mark.long
async def test_every_row_ends_in_its_true_status_while_the_endpoint_misbehaves(fake_openai, tmp_path, caplog):
    from tests.support.scripts import fail, say, sometimes

    fake_openai.script = sometimes(
        [
            (0.05, fail(429, "slow down", retry_after=0.05)),
            (0.02, say('{"nonce": "0", "reason": "cut o', finish_reason="length")),
            (0.01, fail(500, "oops")),
            (0.005, hang()),
        ]
    )
    budget = Budget()
    settings = fake_openai.settings(timeout_s=3.0)  # a busy machine answers within that
    with caplog.at_level(logging.DEBUG):
        async with opened(settings, tmp_path, fake_openai.model, budget) as door:
            asking = [door.ask(prompt(f"row {n}")) for n in range(300)]
            ends = await asyncio.gather(*asking, return_exceptions=True)
    failed = [end for end in ends if isinstance(end, BaseException)]
    assert [end for end in failed if not isinstance(end, CallFailed)] == []
    assert len(failed) <= 3
    assert sum(budget.failed.values()) == len(failed)
    assert budget.retries > 5


async def test_another_version_of_an_application_is_another_call_and_none_is_the_call_that_it_was():
    asked = prompt(reply=None, nonce=None)
    newer = [msgspec.structs.replace(asked, version=version) for version in ("", "1", "2")]
    assert prompt_key("x", newer[0]) == prompt_key("x", asked)
    assert len({prompt_key("x", one) for one in newer}) == 3


async def test_a_cost_that_the_endpoint_tells_goes_before_the_price(tmp_path):
    said = Completion(text="x", usage=Usage(input=10, output=5), cost_usd=0.5)
    budget = Budget()
    with door_to(Model(said).send, tmp_path, price=Price(input=1, output=1), budget=budget) as door:
        first = await door.ask(prompt(reply=None, nonce=None))
        kept = await door.ask(prompt(reply=None, nonce=None))
    assert (first.cost_usd, kept.cost_usd, budget.usd, door.from_ledger) == (0.5, 0.5, 1.0, 1)


async def test_an_endless_reply_is_not_sent_back_whole(tmp_path):
    model = Model("x" * 3_000_000, verdict())
    with door_to(model.send, tmp_path) as door:
        assert (await door.ask(prompt())).value.score == 2
    assert len(model.asked[1].messages[-2].content) == 100_000


@pytest.mark.parametrize("jump_s", [-3600.0, 3600.0])
async def test_a_clock_that_is_set_during_a_run_changes_nothing(jump_s, tmp_path, monkeypatch):
    """Wall time names days and moments of responses; deadlines, pauses and whose response it is need none."""
    now = [1_000_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    with door_to(Model("no verdict").send, tmp_path) as door, pytest.raises(CallFailed, match="no JSON"):
        await door.ask(prompt())
    now[0] += 100
    mended = Model()
    with door_to(mended.send, tmp_path, caps=Caps(seconds=60)) as door:
        now[0] += jump_s
        replies = [await door.ask(prompt()) for _ in range(3)]
        replies += await asyncio.gather(*(door.ask(prompt(f"Judge {n}.")) for n in range(3)))
    assert [reply.value.score for reply in replies] == [2] * 6
    assert len(mended.asked) == 4  # one for each prompt
    with door_to(Model("no verdict").send, tmp_path) as door:
        assert (await door.ask(prompt())).value.score == 2
