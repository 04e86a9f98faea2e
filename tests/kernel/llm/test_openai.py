"""The transport for OpenAI-compatible endpoints, against one that does what real ones do."""

import asyncio
import contextlib
import http.server
import json
import logging
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.doors import Verdict, opened, prompt, verdict
from tests.support.scripts import (
    always,
    cut_connection,
    fail,
    fit_schema,
    hang,
    html,
    in_turn,
    mode_of,
    say,
)

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import Budget, CallFailed, Door
from ragstone.kernel.records import Usage

KEY = "sk-very-secret-0123456789abcdef"


async def failure_of(door: Door, words: str = "Judge this.") -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        await door.ask(prompt(words))
    return caught.value


async def test_a_call_carries_model_messages_limits_and_strict_schema(door, fake_openai):
    reply = await door.ask(prompt("Judge row 1."))
    assert isinstance(reply.value, Verdict)
    (body,) = fake_openai.bodies
    assert body["model"] == "fake"
    assert body["messages"] == [{"role": "user", "content": "Judge row 1."}]
    assert (body["max_tokens"], body["temperature"]) == (100, 0.0)
    form = body["response_format"]["json_schema"]
    assert (form["name"], form["strict"]) == ("Verdict", True)
    assert list(form["schema"]["properties"]) == ["nonce", "reason", "score"]


async def test_usage_with_cached_tokens_and_latency_are_kept(door, fake_openai):
    usage = {"prompt_tokens": 90, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 64}}
    fake_openai.script = always(say(verdict(), usage=usage))
    fake_openai.latency_s = 0.02
    reply = await door.ask(prompt())
    assert reply.usage == Usage(input=90, output=9, cached=64)
    assert 0.02 <= reply.latency_s < 1


async def test_usage_of_nulls_is_no_usage(door, fake_openai):
    usage = {"prompt_tokens": None, "completion_tokens": 3, "prompt_tokens_details": None}
    fake_openai.script = always(say(verdict(), usage=usage))
    assert (await door.ask(prompt())).usage == Usage(output=3)


class TestDialect:
    @pytest.mark.parametrize(
        ("refused", "mode"),
        [
            (set(), "json_schema"),
            ({"json_schema"}, "tool"),
            ({"json_schema", "tool"}, "json_object"),
            ({"json_schema", "tool", "json_object"}, "text"),
        ],
    )
    async def test_what_an_endpoint_refuses_is_asked_for_in_the_next_way_and_that_is_remembered(
        self, door, refused, mode, fake_openai
    ):
        fake_openai.refuse = refused
        fake_openai.script = always(verdict(1))
        assert (await door.ask(prompt("a"))).value.score == 1
        assert (await door.ask(prompt("b"))).value.score == 1
        modes = [mode_of(body) for body in fake_openai.bodies]
        tried = ["json_schema", "tool", "json_object", "text"][: len(refused) + 1]
        assert modes == [*tried, mode]

    async def test_a_tool_call_carries_the_schema_and_its_arguments_are_the_reply(self, door, fake_openai):
        fake_openai.refuse = {"json_schema"}
        assert isinstance((await door.ask(prompt())).value, Verdict)
        body = fake_openai.bodies[-1]
        assert body["tool_choice"]["function"]["name"] == body["tools"][0]["function"]["name"] == "Verdict"

    async def test_a_refusal_after_success_is_the_rows_own_and_changes_nothing(self, says, door, fake_openai):
        long = fail(400, "maximum context length is 8192 tokens: 9000 in the messages, 100 in the tools")
        fake_openai.script = in_turn(verdict(1), long, verdict(2))
        await door.ask(prompt("a"))
        failure = await failure_of(door, "a very long one")
        await door.ask(prompt("c"))
        assert failure.status == "error"
        says(failure)
        assert [mode_of(body) for body in fake_openai.bodies] == ["json_schema"] * 3

    async def test_every_form_tried_counts_as_a_call(self, fake_openai, tmp_path):
        fake_openai.refuse, budget = {"json_schema", "tool"}, Budget()
        fake_openai.script = always(verdict(1))
        async with opened(fake_openai.settings(), tmp_path, budget=budget) as door:
            await door.ask(prompt())
        assert budget.made == fake_openai.n_requests == 3

    async def test_a_request_refused_in_every_form_fails_with_the_providers_words(
        self, says, door, fake_openai
    ):
        fake_openai.script = always(fail(400, "the schema of your tool offends me"))
        says(await failure_of(door))
        assert fake_openai.n_requests == 4


class TestStops:
    """What no retry can help stops the run, in the provider's own words."""

    async def test_no_key_where_one_is_demanded(self, says, fake_openai, tmp_path):
        for settings in (fake_openai.settings(api_key_env="MY_KEY"), Settings()):
            async with opened(settings, tmp_path) as door:
                with pytest.raises(ModelError) as caught:
                    await door.ask(prompt())
                says(caught.value)
        assert fake_openai.n_requests == 0

    async def test_nobody_there(self, tmp_path, says):
        with socket.create_server(("127.0.0.1", 0)) as free:
            base_url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        settings = Settings(models={"openai/x": ModelSettings(base_url=base_url)})
        async with opened(settings, tmp_path, "openai/x") as door:
            with pytest.raises(ModelError) as error:
                await door.ask(prompt())
            says(str(error.value).partition(" (")[0])
            assert str(error.value).endswith("is base_url right?")

    @pytest.mark.parametrize("base_url", ["localhost:8000/v1", "http://", "v1"])
    async def test_an_address_that_is_none(self, base_url, tmp_path):
        settings = Settings(models={"openai/x": ModelSettings(base_url=base_url)})
        async with opened(settings, tmp_path, "openai/x") as door:
            with pytest.raises(ModelError, match=base_url) as caught:
                await door.ask(prompt())
        assert not isinstance(caught.value, CallFailed)

    async def test_a_server_that_speaks_html(self, fake_openai, tmp_path):
        for page, words in (
            (html(), "does not speak the OpenAI protocol: a web page, 'Welcome'"),
            (html(404), "404"),
        ):
            fake_openai.script = always(page)
            async with opened(fake_openai.settings(), tmp_path) as door:
                with pytest.raises(ModelError, match=words):
                    await door.ask(prompt())

    async def test_a_server_that_accepts_and_never_answers(self, says, tmp_path):
        with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
            base_url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
            settings = Settings(models={"openai/x": ModelSettings(base_url=base_url, timeout_s=0.1)})
            async with opened(settings, tmp_path, "openai/x") as door:
                asking = [door.ask(prompt(f"row {n}")) for n in range(50)]
                ends = await asyncio.gather(*asking, return_exceptions=True)
        stopped = [end for end in ends if not isinstance(end, CallFailed)]
        assert len(stopped) > 40
        says(stopped[0])

    async def test_a_certificate_that_does_not_verify(self, tmp_path):
        with self_signed_server(tmp_path) as port:
            base_url = f"https://localhost:{port}/v1"
            settings = Settings(models={"openai/x": ModelSettings(base_url=base_url)})
            async with opened(settings, tmp_path, "openai/x") as door:
                with pytest.raises(ModelError, match=r"its certificate does not verify .* Set SSL_CERT_FILE"):
                    await door.ask(prompt())


@contextlib.contextmanager
def self_signed_server(folder: Path) -> Iterator[int]:
    """Give the port of an HTTPS server whose certificate nobody vouches for."""
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "1",
        "-subj",
        "/CN=localhost",
    ]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    try:
        subprocess.run([*command, *files], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("needs the command openssl")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class TestRowFailures:
    @pytest.mark.parametrize("status", [500, 502, 503, 504, 529, 408, 409])
    async def test_what_passes_is_tried_again(self, door, status, fake_openai):
        fake_openai.script = in_turn(fail(status, "oops"), verdict(1))
        assert (await door.ask(prompt())).value.score == 1

    async def test_a_gateways_page_between_good_replies_is_tried_again(self, door, fake_openai):
        fake_openai.script = in_turn(verdict(1), html(502), html(200), verdict(2))
        await door.ask(prompt("a"))
        assert (await door.ask(prompt("b"))).value.score == 2

    async def test_a_connection_that_breaks_is_tried_again(self, door, fake_openai):
        fake_openai.script = in_turn(cut_connection(), verdict(1))
        assert (await door.ask(prompt())).value.score == 1

    @pytest.mark.long
    async def test_a_hanging_call_is_a_timeout_of_its_row_and_the_others_go_on(self, fake_openai, tmp_path):
        fake_openai.script = lambda body: hang() if "row 3" in str(body) else fit_schema(body)
        async with opened(fake_openai.settings(timeout_s=1.0), tmp_path) as door:  # the others take less
            await door.ask(prompt("first"))
            asking = [door.ask(prompt(f"row {n}")) for n in range(8)]
            ends = await asyncio.gather(*asking, return_exceptions=True)
        failed = [end for end in ends if isinstance(end, BaseException)]
        assert [getattr(end, "status", None) for end in failed] == ["timeout"]
        assert fake_openai.n_requests == 1 + 7 + 3

    async def test_an_error_in_a_reply_of_status_200_is_shown_in_its_own_words(self, says, door, fake_openai):
        from tests.support.scripts import Said

        error = Said(raw=json.dumps({"error": {"message": "upstream is gone", "code": 502}}).encode())
        fake_openai.script = in_turn(verdict(1), error)
        await door.ask(prompt("a"))
        says(await failure_of(door, "b"))


class TestRetryAfter:
    async def test_seconds_are_honoured(self, fake_openai, tmp_path):
        fake_openai.script = in_turn(fail(429, "slow down", retry_after=0.3), verdict(1))
        async with opened(fake_openai.settings(), tmp_path) as door:
            await door.ask(prompt())
        first, second = fake_openai.arrivals
        assert second - first >= 0.3

    @pytest.mark.parametrize("given", ["86400", "inf"])
    async def test_nobody_waits_until_tomorrow(self, door, given, fake_openai):
        fake_openai.script = always(fail(429, "daily limit reached", retry_after=given))
        failure = await asyncio.wait_for(failure_of(door), 60)
        assert failure.status == "rate_limited"
        assert fake_openai.n_requests == 1


class TestSecrecy:
    async def test_the_key_is_sent_and_shown_nowhere(self, says, fake_openai, tmp_path, monkeypatch, caplog):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        fake_openai.key = KEY
        # A provider that repeats the key in its errors.
        fake_openai.script = in_turn(verdict(1), fail(400, f"your key {KEY} may not do this"))
        with caplog.at_level(logging.DEBUG):
            async with opened(fake_openai.settings(), tmp_path) as door:
                await door.ask(prompt("a"))
                failure = await failure_of(door, "b")
                fake_openai.key = "another"
                with pytest.raises(ModelError) as stopped:
                    await door.ask(prompt("c"))
        says(failure)
        says(stopped.value)
        for shown in (caplog.text, repr(failure), repr(stopped.value), repr(door.endpoint)):
            assert KEY not in shown
        assert not any(KEY.encode() in content for content in contents(tmp_path))

    async def test_a_password_in_the_address_is_not_shown(self, says, tmp_path):
        settings = Settings(models={"openai/x": ModelSettings(base_url="http://me:hidden@127.0.0.1:9/v1")})
        async with opened(settings, tmp_path, "openai/x") as door:
            with pytest.raises(ModelError) as caught:
                await door.ask(prompt())
            says(caught.value)
        assert "hidden" not in str(caught.value)


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


class TestEnvironment:
    async def test_the_usual_variables_are_honoured(self, fake_openai, tmp_path, monkeypatch):
        monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.base_url + "/")
        monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
        fake_openai.key = KEY
        async with opened(Settings(), tmp_path, "openai/any/name") as door:
            await door.ask(prompt())
        assert fake_openai.bodies[0]["model"] == "any/name"

    async def test_an_endpoint_of_ones_own_needs_no_key(self, door, fake_openai):
        fake_openai.key = ""
        await door.ask(prompt())

    async def test_a_proxy_named_in_the_environment_is_used(self, fake_openai, tmp_path, monkeypatch):
        monkeypatch.setenv("http_proxy", fake_openai.base_url.removesuffix("/v1"))
        settings = Settings(models={"openai/x": ModelSettings(base_url="http://models.invalid/v1")})
        async with opened(settings, tmp_path, "openai/x") as door:
            await door.ask(prompt())
        assert fake_openai.n_requests == 1

    async def test_no_proxy_excepts_an_address(self, door, fake_openai, monkeypatch):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        await door.ask(prompt())
        assert fake_openai.n_requests == 1


async def test_as_many_calls_are_in_flight_as_the_settings_say(fake_openai, tmp_path):
    fake_openai.latency_s = 0.02
    async with opened(fake_openai.settings(max_concurrency=8), tmp_path) as door:
        await asyncio.gather(*(door.ask(prompt(f"row {n}")) for n in range(40)))
    assert fake_openai.most_in_flight == 8


async def test_a_schemas_name_has_only_letters_that_endpoints_take(door, fake_openai):
    import msgspec

    odd = msgspec.defstruct("Réply[my judge v1]" + "x" * 80, [("score", int)])
    await door.ask(prompt(reply=odd))
    name = fake_openai.bodies[0]["response_format"]["json_schema"]["name"]
    assert name.startswith("R_ply_my_judge_v1_x")
    assert len(name) == 64
