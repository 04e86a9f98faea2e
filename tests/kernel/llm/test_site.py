"""Addresses, keys and headers of endpoints, and what their errors mean."""

import contextlib
import errno
import json
from collections.abc import AsyncIterator
from pathlib import Path
from unittest import mock

import aiohttp
import pytest
from aiohttp import web
from tests.support.dialects import BY_NAME
from tests.support.dialects.server import KEY
from tests.support.doors import opened, prompt

from ragstone.kernel.config import ModelSettings, Settings, load_settings
from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.llm._site import AZURE_VERSION, failures_of, message_of
from ragstone.kernel.llm.failures import CallFailed, Unreachable
from ragstone.kernel.llm.providers import provider_of, providers

HOSTED = [
    one for one in providers().values() if one.needs_key and one.dialect in ("openai", "azure", "anthropic")
]


async def ask(model: str, settings: Settings, folder: Path) -> str:
    """Ask once; return the message of the error that stops the run."""
    try:
        async with opened(settings, folder, model) as door:
            await door.ask(prompt("Judge row one."))
    except ModelError as stopped:
        return str(stopped)
    return ""


class TestKey:
    @pytest.mark.parametrize("provider", HOSTED, ids=lambda one: one.name)
    async def test_a_preset_without_its_key_names_the_variable(self, says, provider, tmp_path, monkeypatch):
        for name in provider.base_url_env:  # whose own address demands no key, but for Azure's
            monkeypatch.setenv(name, provider.base_url or "http://127.0.0.1:9")
        words = await ask(f"{provider.name}/x", Settings(), tmp_path)
        says(words)

    async def test_the_first_of_its_variables_that_is_set_is_taken(self, bench, tmp_path, monkeypatch):
        monkeypatch.delenv("GEMINI_API_KEY")
        monkeypatch.setenv("GOOGLE_API_KEY", KEY)
        gemini = BY_NAME["gemini"]
        assert await ask(gemini.model, bench.settings(gemini), tmp_path) == ""

    async def test_a_refused_key_is_named_by_where_it_was_read(self, says, bench, tmp_path, monkeypatch):
        azure = BY_NAME["azure-deployment"]
        monkeypatch.delenv("AZURE_OPENAI_API_KEY")
        monkeypatch.setenv("AZURE_API_KEY", "wrong-key-0123456789")
        words = await ask(azure.model, bench.settings(azure), tmp_path)
        says(words)
        assert words.endswith("Check AZURE_API_KEY.")


class TestHeaders:
    async def test_the_key_stands_where_a_header_wants_it_and_nowhere_else(self, bench, tmp_path):
        openai = BY_NAME["reply-in-parts"]
        headers = {"X-Gateway-Key": "Key {key}", "X-Team": "evaluation"}
        await ask(openai.model, bench.settings(openai, headers=headers), tmp_path)
        sent = bench.requests[0].headers
        assert (sent["X-Gateway-Key"], sent["X-Team"]) == (f"Key {KEY}", "evaluation")
        assert "Authorization" not in sent

    async def test_a_header_without_the_key_stands_beside_the_providers(self, bench, tmp_path):
        claude = BY_NAME["anthropic"]
        headers = {"anthropic-beta": "context-1m", "Anthropic-Version": "2023-06-01"}
        assert await ask(claude.model, bench.settings(claude, headers=headers), tmp_path) == ""
        sent = bench.requests[0].headers
        assert (sent["x-api-key"], sent["anthropic-beta"]) == (KEY, "context-1m")
        assert [name.casefold() for name in sent].count("anthropic-version") == 1

    async def test_a_header_that_wants_a_key_demands_one(self, says, tmp_path):
        table = ModelSettings(base_url="http://127.0.0.1:9/v1", headers={"X-Key": "{key}"})
        words = await ask("groq/x", Settings(models={"groq/x": table}), tmp_path)
        says(words)

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ('headers = { X-Key = "" }', "headers: 'X-Key' has no value. Give it one, or leave it out"),
            ('headers = { "X Key" = "a" }', "headers: 'X Key' is not a valid header"),
            (
                "extra = { temperature = 1 }",
                "extra names 'temperature', which is set by the key temperature of this table",
            ),
            (
                "extra = { max_tokens = 9 }",
                "extra names 'max_tokens', which is set by max_tokens of the judge or prompt",
            ),
            ("extra = { n = 2 }", "extra names 'n', which is set by samples of a judge"),
        ],
    )
    def test_what_cannot_be_sent_is_told_when_the_file_is_read(self, line, words, tmp_path):
        file = tmp_path / "ragstone.toml"
        file.write_text(f'[run]\nname = "a"\n\n[models."groq/x"]\ntimeout_s = 9\n{line}\n')
        with pytest.raises(ConfigError) as caught:
            load_settings(file)
        assert words in str(caught.value)
        assert str(caught.value).startswith(f"{file}:6: ")

    async def test_a_refused_field_of_extra_is_told_with_its_line(self, says, bench, tmp_path):
        openai = BY_NAME["openai-unknown-field"]
        file = tmp_path / "ragstone.toml"
        base_url = bench.model(openai).base_url
        file.write_text(
            f'[models."{openai.model}"]\nbase_url = "{base_url}"\n'
            '[models."openai/gpt-4.1".extra]\nverbosity = "low"\nthinking = "on"\n'
        )
        words = await ask(openai.model, load_settings(file), tmp_path)
        assert words.startswith(f"{file}:5: ")
        says(words)

    async def test_a_field_that_was_taken_before_is_not_to_blame_for_one_row(self, says, bench, tmp_path):
        from tests.support.dialects.server import Dialect, always, error

        from ragstone.kernel.llm import CallFailed

        words = "messages.0: for 'role:user' the content is too long"
        openai = Dialect("x", "", always(error(words)), "openai/x", settings={"extra": {"user": "me"}})
        async with bench.door(openai, tmp_path) as door:
            await door.ask(prompt("Judge row one."))
            with pytest.raises(CallFailed) as caught:
                await door.ask(prompt("Judge the odd row."))
            says(caught.value)
            await door.ask(prompt("Judge row two."))  # the run goes on


class TestAzure:
    async def test_a_deployment_is_in_the_path_and_the_version_in_the_query(
        self, bench, tmp_path, monkeypatch
    ):
        azure = BY_NAME["azure-deployment"]
        for how, version in (
            (None, AZURE_VERSION),
            ("OPENAI_API_VERSION", "2025-01-01"),
            ("api_version", "2025-02-02"),
        ):
            further = {"api_version": version} if how == "api_version" else {}
            if how == "OPENAI_API_VERSION":
                monkeypatch.setenv(how, version)
            bench.requests.clear()
            assert await ask(azure.model, bench.settings(azure, **further), tmp_path / version) == ""
            (request,) = bench.requests
            assert request.path == "/openai/deployments/my-deployment/chat/completions"
            assert request.query == {"api-version": version}
            assert request.headers["api-key"] == KEY
            assert "Authorization" not in request.headers

    async def test_the_newer_interface_takes_the_deployment_as_the_model(self, bench, tmp_path):
        azure = BY_NAME["azure-v1"]
        assert await ask(azure.model, bench.settings(azure), tmp_path) == ""
        (request,) = bench.requests
        assert (request.path, request.query) == ("/openai/v1/chat/completions", {})

    async def test_the_address_is_the_resources_own_in_the_environment(self, bench, tmp_path, monkeypatch):
        azure = BY_NAME["azure-deployment"]
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{bench.model(azure).base_url}/")
        assert await ask(azure.model, Settings(), tmp_path) == ""

    async def test_without_an_address_it_says_what_to_set(self, says, tmp_path):
        words = await ask("azure/mine", Settings(), tmp_path)
        says(words)

    async def test_a_deployment_that_does_not_exist_stops_the_run_and_loses_nothing(
        self, says, bench, tmp_path
    ):
        azure = BY_NAME["azure-no-such-deployment"]
        async with bench.door(azure, tmp_path) as door:
            await door.ask(prompt("Judge row one."))
            with pytest.raises(ModelError) as caught:
                await door.ask(prompt("Judge the odd row."))
            says(caught.value)
        bench.requests.clear()
        async with bench.door(azure, tmp_path) as door:
            assert (await door.ask(prompt("Judge row one."))).value.score == 2
        assert bench.requests == []


def test_the_ledger_tells_two_servers_of_one_model_apart():
    groq, _model = provider_of("groq/x")
    assert groq.identity_of("x", groq.base_url) == "groq/x"
    assert groq.identity_of("x", "http://me:secret@10.0.0.1/v1") == "groq/x@10.0.0.1/v1"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "slow down", "code": "429"}}, "slow down (429)"),
        ({"error": "model 'x' not found"}, "model 'x' not found"),  # Ollama, LM Studio
        ([{"error": {"message": "no quota"}}], "no quota"),  # Gemini
        ({"object": "error", "message": "too long", "code": 400}, "too long (400)"),  # vLLM, Mistral
        (
            {"detail": [{"loc": ["body", "a", 0], "msg": "bad"}, {"msg": "worse"}]},
            "a.0: bad; worse",
        ),  # FastAPI
        ({"message": {"detail": [{"loc": ["body", "a"], "msg": "bad"}]}}, "a: bad"),  # Mistral
        (
            {"error": {"message": "Provider returned error", "metadata": {"raw": '{"error": "no"}'}}},
            "Provider returned error: no",
        ),
        (
            {"error": {"message": "Param Incorrect", "param": "it is too large"}},
            "Param Incorrect: it is too large",
        ),
        ({"error": {"message": "bad", "param": "max_tokens"}}, "bad"),
    ],
)
def test_the_words_of_an_error_are_found_in_every_form(body, words):
    assert message_of(json.dumps(body).encode()) == words


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<html><TITLE>502 Bad\n Gateway</TITLE>", "a web page, '502 Bad Gateway'"),
        (b"upstream connect error", "upstream connect error"),
        (b"", "an empty reply"),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_of_another_body_the_title_or_the_first_words_are_shown(content, words):
    assert message_of(content) == words


class TestCredentialsInTheAddress:
    async def test_a_key_beside_them_stops_before_any_call(self, says, fake_openai, tmp_path, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        address = fake_openai.base_url.replace("//", "//me:hidden@")
        settings = Settings(models={fake_openai.model: ModelSettings(base_url=address)})
        with pytest.raises(ConfigError) as told:
            await ask(fake_openai.model, settings, tmp_path)
        says(told.value)
        assert "hidden" not in str(told.value)
        assert fake_openai.n_requests == 0

    @pytest.mark.parametrize("headers", [{}, {"X-Api-Key": "{key}"}])
    async def test_alone_or_beside_a_key_in_another_header_they_are_sent(
        self, fake_openai, tmp_path, monkeypatch, headers
    ):
        monkeypatch.setenv("OPENAI_API_KEY", KEY if headers else "")
        address = fake_openai.base_url.replace("//", "//me:hidden@")
        settings = Settings(models={fake_openai.model: ModelSettings(base_url=address, headers=headers)})
        assert await ask(fake_openai.model, settings, tmp_path) == ""
        assert fake_openai.n_requests == 1


PLAIN = prompt(nonce=None, reply=None)
EVENT = b'data: {"choices": [{"delta": {"content": "%b"}}]}\n\n' % (b"x" * 100_000)


@contextlib.asynccontextmanager
async def pouring(piece: bytes, *, status: int = 200, packed: bool = False) -> AsyncIterator[str]:
    """Give the address of an endpoint that sends a piece again and again, 150 MB in all."""

    async def pour(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=status, headers={"Content-Type": "text/event-stream"})
        if packed:
            response.enable_compression(web.ContentCoding.gzip)
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            for _ in range(150_000_000 // len(piece)):
                await response.write(piece)
        return response

    app = web.Application()
    app.router.add_post("/v1/chat/completions", pour)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


@pytest.mark.long
@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    ("piece", "status", "packed"), [(b" " * 1_000_000, 200, True), (EVENT, 200, False), (EVENT, 400, False)]
)
async def test_a_reply_without_an_end_is_given_up(says, tmp_path, piece, status, packed, streams):
    async with pouring(piece, status=status, packed=packed) as address:
        settings = Settings(models={"openai/x": ModelSettings(base_url=address, timeout_s=30)})
        async with opened(settings, tmp_path, "openai/x") as door:
            asked = door.stream(PLAIN, lambda _piece: None) if streams else door.ask(PLAIN)
            with pytest.raises(CallFailed) as caught:
                await asked
            says(caught.value)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_that_no_more_files_may_be_open_is_told_as_that(number):
    inner = OSError(number, "Too many open files")
    connector = aiohttp.ClientConnectorError(mock.Mock(), inner)
    for mistake in (inner, connector):
        with pytest.raises(Unreachable, match="ulimit -n") as caught, failures_of(mock.Mock()):
            raise mistake
        assert "base_url" not in str(caught.value)
    with pytest.raises(Unreachable, match="base_url right"), failures_of(mock.Mock()):
        raise OSError(errno.ECONNREFUSED, "refused")


@pytest.mark.parametrize("sign", ["\x1b[31m", "\r", "\x07", "\u202e", "\x9b2J", "\ud800"])
def test_what_acts_on_a_terminal_is_taken_out_of_every_failed_call(sign):
    failure = CallFailed("error", f"HTTP 500: a{sign}b")
    assert not {*str(failure)} & {*"\x1b\r\x07\x9b\u202e\ud800"}
    assert str(failure).endswith("b")
