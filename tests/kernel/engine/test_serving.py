"""A session that serves: no question on a disk, failures told soon, recovery without a restart."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.support.doors import prompt
from tests.support.fake_openai import FakeOpenAI
from tests.support.scripts import always, fail, in_turn, stream

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.engine.session import open_session
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import CallFailed, Prompt
from ragstone.kernel.llm.limits import SERVING

MODEL = FakeOpenAI.model
SECRET = "+44 7700 900123"


def asked(words: str) -> Prompt:
    return prompt(words, nonce=None, reply=None)


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Circuits whose clock moves only when this is called: to when they close."""
    now = 0.0

    def move() -> None:
        nonlocal now
        assert SERVING.closes_after_s is not None
        now += SERVING.closes_after_s

    clock = SimpleNamespace(monotonic=lambda: now, time=time.time)
    monkeypatch.setattr("ragstone.kernel.llm.limits.time", clock)
    return move


async def test_what_is_asked_and_said_stays_on_no_disk(fake_openai, tmp_path):
    fake_openai.script = always(stream("Call ", SECRET))
    heard: list[str] = []
    async with open_session(fake_openai.settings(root=tmp_path), serving=True) as session:
        ask = await session.models.stream(MODEL)
        first = await ask(asked(f"I am at {SECRET}"), heard.append)
        assert await ask(asked(f"I am at {SECRET}"), heard.append) == first
        session.embedder(MODEL)([f"I am at {SECRET}"], "query")
        assert files_in(tmp_path) == set()
        session.embedder(MODEL)(["Maize needs nitrogen."], "passage")
    assert heard == ["Call ", SECRET, f"Call {SECRET}"]
    assert session.calls().from_ledger == 1
    assert files_in(tmp_path) == {"embeddings.sqlite"}


async def test_a_query_is_kept_in_memory_and_not_in_the_store(fake_openai, tmp_path):
    for _session in range(2):
        async with open_session(fake_openai.settings(root=tmp_path), serving=True) as session:
            for _ in range(2):
                session.embedder(MODEL)(["what?"], "query")
                session.embedder(MODEL)(["Maize needs nitrogen."], "passage")
    assert dict(fake_openai.embedded) == {"what?": 2, "Maize needs nitrogen.": 1}


async def test_an_endpoint_that_was_down_is_asked_again(fake_openai, tmp_path, later, says):
    fake_openai.script = always(fail(500, "starting"))
    async with open_session(fake_openai.settings(root=tmp_path), serving=True) as session:
        ask = await session.models.ask(MODEL)
        for n in range(SERVING.lost_in_a_row):
            with pytest.raises(CallFailed, match="starting"):
                await ask(asked(str(n)))
        n_asked = fake_openai.n_requests
        assert n_asked == SERVING.unproven * SERVING.lost_in_a_row
        with pytest.raises(ModelError) as error:
            await ask(asked("open"))
        says(error.value)
        assert fake_openai.n_requests == n_asked
        fake_openai.script = always("works")
        later()
        assert (await ask(asked("half open"))).text == "works"
        replies = await asyncio.gather(*(ask(asked(f"closed {n}")) for n in range(5)))
        assert {reply.text for reply in replies} == {"works"}


async def test_while_one_call_tries_the_others_fail_at_once(fake_openai, tmp_path, later):
    fake_openai.script = always(fail(401, "wrong key"))
    async with open_session(fake_openai.settings(root=tmp_path), serving=True) as session:
        ask = await session.models.ask(MODEL)
        with pytest.raises(ModelError, match="wrong key"):
            await ask(asked("first"))
        later()
        failures = await asyncio.gather(*(ask(asked(str(n))) for n in range(5)), return_exceptions=True)
    assert all(isinstance(failure, ModelError) for failure in failures)
    assert fake_openai.n_requests == 2


async def test_nobody_there_is_told_at_once_and_found_when_it_comes(tmp_path, later):
    fake = FakeOpenAI()
    runner = await fake.serve()
    port = int(fake.base_url.split(":")[2].split("/")[0])
    await runner.cleanup()
    settings = Settings(models={MODEL: ModelSettings(base_url=fake.base_url)}, root=str(tmp_path))
    async with open_session(settings, serving=True) as session:
        ask = await session.models.ask(MODEL)
        with pytest.raises(ModelError, match="cannot be reached"):
            await ask(asked("a"))
        runner = await fake.serve(port)
        try:
            later()
            assert (await ask(asked("b"))).text
        finally:
            await runner.cleanup()


async def test_who_must_wait_long_is_told_so_instead(fake_openai, tmp_path):
    fake_openai.script = in_turn(fail(429, "slow down", retry_after=120), "works")
    async with open_session(fake_openai.settings(root=tmp_path), serving=True) as session:
        ask = await session.models.ask(MODEL)
        started = time.monotonic()
        with pytest.raises(CallFailed, match="slow down") as caught:
            await ask(asked("a"))
        assert caught.value.status == "rate_limited"
        assert (await ask(asked("b"))).text == "works"
    assert time.monotonic() - started < 60


async def test_a_timeout_is_not_waited_for_twice(fake_openai, tmp_path):
    fake_openai.script = always(stream("Maize ", then="hang"))
    fake_openai.latency_s = 1.0
    async with open_session(fake_openai.settings(root=tmp_path, timeout_s=0.5), serving=True) as session:
        with pytest.raises(CallFailed) as caught:
            await (await session.models.stream(MODEL))(asked("a"), lambda _piece: None)
    assert (caught.value.status, fake_openai.n_requests) == ("timeout", 1)
