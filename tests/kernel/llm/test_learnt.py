"""An unknown model is asked once first; what that taught is kept, used by the next command, and forgotten."""

import asyncio
import contextlib
import datetime
import json
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from tests.support.dialects import BY_NAME
from tests.support.dialects.server import KEY, Request, Response, error, healthy
from tests.support.dialects.server import Dialect as Kind
from tests.support.doors import NONCE, Verdict, prompt, verdict

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import Budget, CallFailed, Caps, Door, Ledger, open_door
from ragstone.kernel.llm._reasoning import MOST, START, Room
from ragstone.kernel.llm.learnt import (
    FILE,
    FirstCall,
    Learnt,
    ModelMemory,
    keep_entry,
    kind_of,
    learnt_in,
    learnt_in_folder,
    read_entries,
)
from ragstone.kernel.llm.prompt import Completion, Prompt
from ragstone.kernel.llm.transport import MODES, Dialect, Endpoint
from ragstone.kernel.records import Usage

DAY = datetime.date(2026, 11, 23)
N = 64
# Kinds of endpoints that refuse or cut off a request of the usual form, and say so in words of their own.
PICKY = [
    "openai-reasoner",
    "openai-limit-of-the-model",
    "vllm-reasoning",
    "groq-raw-thought",
    "gemini",
    "together-reasoner",
    "ollama-thinker",
    "mistral-content-in-parts",
]


async def judge_all(bench, dialect: Kind, folder: Path, n: int = N, memory: Path | None = None) -> list[str]:
    """One command that judges so many rows at once; the statuses of the rows."""
    bench.requests.clear()
    ledger = Ledger(folder / "ledger.sqlite")
    try:
        store = learnt_in_folder(memory or folder / ".ragstone")
        async with open_door(dialect.model, bench.settings(dialect), ledger, memory=store) as door:
            replies = await asyncio.gather(
                *(door.ask(prompt(f"Judge row one {n}.")) for n in range(n)), return_exceptions=True
            )
    finally:
        ledger.close()
    return ["scored" if not isinstance(one, BaseException) else str(one) for one in replies]


@pytest.mark.long
@pytest.mark.parametrize("name", PICKY)
async def test_a_model_that_is_not_known_is_asked_once_first_and_a_known_one_at_once(name, bench, tmp_path):
    dialect = BY_NAME[name]
    assert await judge_all(bench, dialect, tmp_path) == ["scored"] * N
    assert len(bench.requests) <= N + 4
    first = {json.dumps(one.body["messages"]) for one in bench.requests[: len(bench.requests) - N + 1]}
    assert len(first) == 1  # all that was refused or cut off was of one row
    (tmp_path / "ledger.sqlite").unlink()
    (tmp_path / "two").mkdir()
    assert await judge_all(bench, dialect, tmp_path / "two", memory=tmp_path / ".ragstone") == ["scored"] * N
    assert len(bench.requests) == N


async def test_replies_are_the_same_with_what_was_learnt_and_without(bench, tmp_path):
    dialect, rows = BY_NAME["openai-reasoner"], []
    for name, memory in (("one", None), ("two", tmp_path / "one" / ".ragstone"), ("three", None)):
        (tmp_path / name).mkdir()
        await judge_all(bench, dialect, tmp_path / name, 8, memory)
        ledger = Ledger(tmp_path / name / "ledger.sqlite")
        async with open_door(dialect.model, bench.settings(dialect), ledger) as door:
            found = [await ledger.find(door.key_of(prompt(f"Judge row one {n}."))) for n in range(8)]
        ledger.close()
        assert None not in found
        rows.append([(one.text, one.usage, one.finish_reason) for one in found if one])
    assert rows[0] == rows[1] == rows[2]


async def test_the_file_holds_what_was_learnt_and_neither_key_nor_password_nor_text(
    bench, tmp_path, monkeypatch
):
    dialect = BY_NAME["openai-reasoner"]
    settings = bench.model(dialect, extra={"user": "secret-of-extra"})
    ledger = Ledger(tmp_path / "l")
    full = bench.settings(dialect, extra={"user": "secret-of-extra"})
    async with open_door(dialect.model, full, ledger, memory=learnt_in_folder(tmp_path)) as door:
        await door.ask(prompt("Judge row one."))
    ledger.close()
    text = (tmp_path / FILE).read_text()
    assert KEY not in text
    assert "Judge" not in text
    assert "secret-of-extra" not in text
    ((name, learnt),) = learnt_in(read_entries(tmp_path)).items()
    assert settings.base_url is not None
    assert name.startswith(f"{dialect.model}@{settings.base_url.partition('//')[2]}#")
    assert (learnt.tokens_field, learnt.temperature, learnt.room) == ("max_completion_tokens", False, START)
    assert learnt.kinds == ("json", "limit", "temperature")


def endpoint(send: Callable[[Prompt], object], dialect: Dialect | None = None) -> Endpoint:
    return Endpoint(identity="a/model", send=send, concurrency=64, price=None, dialect=dialect or Dialect())  # type: ignore[arg-type]


@contextlib.contextmanager
def door_of(
    send: Callable[[Prompt], object],
    folder: Path,
    settings: ModelSettings | None = None,
    caps: Caps | None = None,
) -> Iterator[Door]:
    ledger = Ledger(folder / "ledger.sqlite")
    try:
        yield Door(endpoint(send), settings or ModelSettings(), ledger, Budget(caps), offline=False)
    finally:
        ledger.close()


SAID = Completion(text=verdict(), usage=Usage(input=10, output=5))


class TestFirst:
    async def test_a_failing_endpoint_does_not_hold_the_others(self, tmp_path):
        """The first attempt of the first call fails; all others are then under way at once."""
        at_once = asyncio.Event()
        n_asked = 0

        async def send(_prompt: Prompt) -> Completion:
            nonlocal n_asked
            n_asked += 1
            if n_asked == 1:
                raise CallFailed("rate_limited", "slow down", retryable=True, retry_after_s=0.01)
            if n_asked >= 20:
                at_once.set()
            await asyncio.wait_for(at_once.wait(), 60)
            return SAID

        with door_of(send, tmp_path) as door:
            await asyncio.gather(*(door.ask(prompt(f"Judge {n}.")) for n in range(20)))

    async def test_one_that_is_slow_holds_the_others_for_its_deadline_at_most(self, tmp_path):
        others = asyncio.Event()
        n_asked = 0

        async def send(_prompt: Prompt) -> Completion:
            nonlocal n_asked
            n_asked += 1
            if n_asked == 1:
                await asyncio.wait_for(others.wait(), 60)  # it ends only when the others were asked
            elif n_asked == 5:
                others.set()
            return SAID

        with door_of(send, tmp_path, ModelSettings(timeout_s=0.05)) as door:
            await asyncio.gather(*(door.ask(prompt(f"Judge {n}.")) for n in range(5)))

    async def test_when_the_first_is_refused_for_its_own_sake_the_next_goes_ahead(self, tmp_path):
        in_flight, most, n_asked = 0, 0, 0

        async def send(asked: Prompt) -> Completion:
            nonlocal in_flight, most, n_asked
            n_asked += 1
            in_flight += 1
            most = max(most, in_flight) if n_asked <= 2 else most
            await asyncio.sleep(0)
            in_flight -= 1
            if "Judge 0." in asked.messages[0].content:
                raise CallFailed("error", "refused the request: too long")
            return SAID

        with door_of(send, tmp_path) as door:
            said = await asyncio.gather(
                *(door.ask(prompt(f"Judge {n}.")) for n in range(9)), return_exceptions=True
            )
        assert [isinstance(one, CallFailed) for one in said] == [True] + [False] * 8
        assert most == 1

    async def test_one_that_is_cancelled_makes_way_for_the_next(self, tmp_path):
        started = asyncio.Event()

        async def send(asked: Prompt) -> Completion:
            if "first" in asked.messages[0].content:
                started.set()
                await asyncio.Event().wait()
            return SAID

        with door_of(send, tmp_path) as door:
            first = asyncio.create_task(door.ask(prompt("The first.")))
            await started.wait()
            second = asyncio.create_task(door.ask(prompt("The second.")))
            await asyncio.sleep(0)
            first.cancel()
            assert (await asyncio.wait_for(second, 60)).value.score == 2

    async def test_what_no_call_can_get_past_ends_all(self, tmp_path):
        async def send(_prompt: Prompt) -> Completion:
            raise ModelError("no key")

        with door_of(send, tmp_path) as door:
            said = await asyncio.gather(
                *(door.ask(prompt(f"Judge {n}.")) for n in range(9)), return_exceptions=True
            )
        assert {str(one) for one in said} == {"no key"}

    async def test_a_call_of_a_new_kind_goes_ahead_again(self, tmp_path):
        in_flight, most = 0, dict[bool, int]()

        async def send(asked: Prompt) -> Completion:
            nonlocal in_flight
            in_flight += 1
            kind = asked.reply is None
            most.setdefault(kind, in_flight)
            await asyncio.sleep(0.001)
            in_flight -= 1
            return SAID

        with door_of(send, tmp_path) as door:
            for reply in (Verdict, None):
                nonce = NONCE if reply else None
                asked = [prompt(f"Judge {n}.", reply=reply, nonce=nonce) for n in range(9)]
                await asyncio.gather(*map(door.ask, asked))
        assert most == {False: 1, True: 1}


class TestMemory:
    def memory(self, folder: Path, day: datetime.date = DAY, **extra: object) -> ModelMemory:
        return ModelMemory(learnt_in_folder(folder), "a/model", extra, today=lambda: day)

    def learn(self, folder: Path, **of_dialect: object) -> None:
        dialect, room = Dialect(**of_dialect), Room(None, likely=True)
        self.memory(folder).answered(kind_of(prompt()), dialect, room)

    def recalled(
        self, memory: ModelMemory, modes: tuple[str, ...] = MODES
    ) -> tuple[Dialect, Room, frozenset[str]]:
        dialect, room = Dialect(modes=modes), Room(None, likely=False)
        return dialect, room, memory.recall(dialect, room)

    def test_it_is_recalled_for_30_days(self, tmp_path):
        self.learn(tmp_path, mode=1, proven_mode=1, temperature=False, most_tokens=16_384)
        for age, known in ((0, True), (29, True), (30, False), (-1, False)):
            dialect, room, kinds = self.recalled(self.memory(tmp_path, DAY + datetime.timedelta(age)))
            assert (dialect.way, dialect.temperature, room.tokens, bool(kinds)) == (
                ("tool", False, START, True) if known else ("json_schema", True, 0, False)
            )

    def test_another_model_another_address_and_other_fields_are_others(self, tmp_path):
        self.learn(tmp_path, temperature=False)
        for memory in (
            ModelMemory(learnt_in_folder(tmp_path), "a/model@there", {}),
            self.memory(tmp_path, effort="low"),
        ):
            assert self.recalled(memory)[2] == frozenset()

    def test_a_declared_room_is_neither_kept_nor_changed(self, tmp_path):
        self.learn(tmp_path)
        room = Room(7, likely=True)
        self.memory(tmp_path).recall(Dialect(), room)
        assert (room.tokens, room.learnt) == (7, 0)

    def test_a_way_that_the_transport_does_not_know_is_none(self, tmp_path):
        self.learn(tmp_path, mode=1, proven_mode=1)
        assert self.recalled(self.memory(tmp_path), modes=("schema", "text"))[0].way == "schema"

    @pytest.mark.parametrize(
        "odd",
        [
            "{",
            "[]",
            '{"a/model": 7}',
            '{"a/model": {"learnt": 7}}',
            '{"a/model": {"learnt": {"day": "2026-11-23", "tokens_field": "model"}}}',
            '{"a/model": {"learnt": {"day": "2026-11-23", "room": 99999999}}}',
            '{"a/model": {"learnt": {"day": "yesterday"}}}',
            "\ud800",
        ],
    )
    def test_a_damaged_or_hostile_file_teaches_nothing_and_is_written_anew(self, odd, tmp_path):
        (tmp_path / FILE).write_bytes(odd.encode("utf-8", "surrogatepass"))
        dialect, room, kinds = self.recalled(self.memory(tmp_path))
        assert (dialect, room.tokens, kinds) == (Dialect(), 0, frozenset())
        self.learn(tmp_path, temperature=False)
        assert not learnt_in(read_entries(tmp_path))["a/model"].temperature

    def test_a_damaged_file_is_told_of(self, says, tmp_path, caplog):
        (tmp_path / FILE).write_text("{")
        assert read_entries(tmp_path) == {}
        says(caplog.records[0].getMessage())

    def test_a_folder_that_cannot_be_made_is_no_error(self, tmp_path):
        (tmp_path / "file").write_text("")
        self.learn(tmp_path / "file")

    def test_what_a_doctor_found_stays(self, tmp_path):
        keep_entry(tmp_path, "a/model", {"latency_s": 0.5})
        self.learn(tmp_path)
        assert read_entries(tmp_path)["a/model"]["latency_s"] == 0.5

    def test_nothing_is_written_where_nothing_is_new(self, tmp_path):
        self.learn(tmp_path)
        (tmp_path / FILE).chmod(0o400)
        before = (tmp_path / FILE).stat().st_mtime_ns
        memory = self.memory(tmp_path)
        dialect, room, kinds = self.recalled(memory)
        memory.answered(kinds, dialect, room)
        assert (tmp_path / FILE).stat().st_mtime_ns == before


def _write(folder: Path, number: int) -> None:
    for n in range(20):
        keep_entry(folder, f"m{number}", {"n": n})


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="there no lock keeps others out")
def test_processes_that_write_at_once_lose_nothing_of_each_other(tmp_path):
    started = multiprocessing.get_context("spawn")
    processes = [started.Process(target=_write, args=(tmp_path, number)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert read_entries(tmp_path) == {f"m{number}": {"n": 19} for number in range(3)}


async def test_what_a_refusal_contradicts_is_forgotten(bench, tmp_path):
    """The gateway that wanted max_completion_tokens was replaced by one that knows max_tokens alone."""

    def respond(request: Request) -> Response:
        if "max_completion_tokens" in request.body:
            return error("Unrecognized request argument supplied: max_completion_tokens")
        if (request.body.get("response_format") or {}).get("type") != "json_schema":
            return error("response_format: json_schema is needed")
        return healthy(request)

    dialect = Kind("replaced-gateway", "", respond, BY_NAME["openai-reasoner"].model)
    settings = bench.settings(dialect)
    identity = f"{dialect.model}@{settings.models[dialect.model].base_url.partition('//')[2]}"
    learnt = Learnt(
        day=datetime.datetime.now(datetime.UTC).date(),
        kinds=("json", "limit", "temperature"),
        form="json_object",
        tokens_field="max_completion_tokens",
        temperature=False,
    )
    keep_entry(tmp_path, identity, {"learnt": learnt})
    ledger = Ledger(tmp_path / "l")
    async with open_door(dialect.model, settings, ledger, memory=learnt_in_folder(tmp_path)) as door:
        for n in range(3):
            assert (await door.ask(prompt(f"Judge row {n}."))).value.score == 2
    ledger.close()
    assert len(bench.requests) == 4  # one was refused; then nothing of it was used again
    assert all("temperature" in one.body for one in bench.requests[1:])
    now = learnt_in(read_entries(tmp_path))[identity]
    assert (now.form, now.tokens_field, now.temperature) == ("json_schema", "max_tokens", True)


def test_room_is_bounded_in_the_file_as_it_is_when_it_is_learnt():
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"day": "2026-11-23", "room": MOST + 1}, Learnt)


async def test_who_waits_is_told_when_the_run_ends(tmp_path):
    async def send(_prompt: Prompt) -> Completion:
        await asyncio.Event().wait()
        raise AssertionError

    with door_of(send, tmp_path, caps=Caps(seconds=0.05)) as door:
        said = await asyncio.gather(
            *(door.ask(prompt(f"Judge {n}.")) for n in range(5)), return_exceptions=True
        )
    assert {one.status for one in said if isinstance(one, CallFailed)} == {"timeout"}


async def test_one_turn_after_the_other_is_given_where_each_fails_without_teaching_anything():
    first, order = FirstCall(frozenset(), 10.0), []

    async def call(n: int) -> None:
        async with first.turn(frozenset({"json"})):
            order.append(n)
            await asyncio.sleep(0)
            raise CallFailed("error", "of its own")

    await asyncio.gather(*map(call, range(6)), return_exceptions=True)
    assert sorted(order) == list(range(6))
