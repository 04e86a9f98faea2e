"""The transport over litellm: its errors by a stand-in, its calls by the real package where it is."""

import importlib.util
import logging
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import msgspec
import pytest
from tests.support.doors import Verdict, opened, prompt, verdict
from tests.support.scripts import always, fail, fit_schema, hang, in_turn, say

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import CallFailed, Door
from ragstone.kernel.llm._litellm import _body, _failure, _Refused
from ragstone.kernel.llm.failures import Unreachable
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.records import Usage

MODEL = "litellm/openai/fake"
KEY = "sk-very-secret-0123456789abcdef"


def litellm_door(folder: Path, **of_model: object) -> AbstractAsyncContextManager[Door]:
    return opened(Settings(models={MODEL: msgspec.convert(of_model, ModelSettings)}), folder, MODEL)


def error(*names: str, message: str = "the provider's words", **fields: object) -> Exception:
    """Return an error whose classes have these names, as litellm's have: the base last."""
    kind: type[Exception] = Exception
    for name in reversed(names):
        kind = type(name, (kind,), {})
    made = kind(message)
    vars(made).update(fields)
    return made


def limited(retry_after: str | None) -> Exception:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return error("RateLimitError", litellm_response_headers=headers)


class TestFailures:
    @pytest.mark.parametrize(
        ("names", "message", "hint"),
        [
            (("AuthenticationError",), "bad key", "Check the key's environment variable."),
            (("PermissionDeniedError",), "not yours", "Check the key's environment variable."),
            (("NotFoundError",), "no such model", "Check the model's name: litellm/PROVIDER/MODEL."),
            (("BadRequestError",), "LLM Provider NOT provided.", "litellm/PROVIDER/MODEL"),
            (("RateLimitError",), "insufficient_quota", "no quota left"),
            (("PaymentRequiredError", "APIError"), "pay", "no quota left"),
        ],
    )
    def test_what_no_row_can_get_past_stops_the_run(self, names, message, hint):
        failure = _failure("p/m", error(*names, message=message), "")
        assert not isinstance(failure, CallFailed)
        assert str(failure).startswith(f"litellm/p/m: {message}")
        assert hint in str(failure)

    @pytest.mark.parametrize(
        ("names", "status", "retryable"),
        [
            (("ContentPolicyViolationError", "BadRequestError"), "refused", False),
            (("ContextWindowExceededError", "BadRequestError"), "error", False),
            (("BadRequestError",), "error", False),
            (("UnsupportedParamsError", "BadRequestError"), "error", False),
            (("Timeout", "APITimeoutError", "APIConnectionError"), "timeout", True),
            (("RateLimitError",), "rate_limited", True),
            (("APIConnectionError",), "error", True),
            (("InternalServerError",), "error", True),
            (("ServiceUnavailableError",), "error", True),
            (("APIError",), "error", True),
        ],
    )
    def test_others_give_the_row_its_true_status(self, names, status, retryable):
        failure = _failure("p/m", error(*names), "")
        assert isinstance(failure, CallFailed)
        assert (failure.status, failure.retryable) == (status, retryable)
        assert "the provider's words" in str(failure)
        assert isinstance(failure, Unreachable) == (names[0] == "APIConnectionError")

    def test_only_a_refused_request_is_put_otherwise(self):
        kinds = ("ContentPolicyViolationError", "ContextWindowExceededError")
        assert isinstance(_failure("m", error("BadRequestError"), ""), _Refused)
        assert not any(isinstance(_failure("m", error(k, "BadRequestError"), ""), _Refused) for k in kinds)

    @pytest.mark.parametrize(
        ("header", "waits_s", "retryable"),
        [(None, None, True), ("soon", None, True), ("7", 7.0, True), ("3600", None, False)],
    )
    def test_a_rate_limit_says_how_long_to_wait(self, header, waits_s, retryable):
        failure = _failure("p/m", limited(header), "")
        assert isinstance(failure, CallFailed)
        assert (failure.retry_after_s, failure.retryable) == (waits_s, retryable)

    def test_the_key_is_in_no_message(self, says):
        failure = _failure("p/m", error("AuthenticationError", message=f"Wrong key: {KEY}"), KEY)
        says(failure)
        assert KEY not in str(failure)


def test_a_request_asks_for_the_schema_then_for_json_then_for_nothing():
    strict = _body(prompt(), "json_schema")["response_format"]["json_schema"]
    assert (strict["name"], strict["strict"]) == ("Verdict", True)
    assert list(strict["schema"]["properties"]) == ["nonce", "reason", "score"]
    assert _body(prompt(), "json_object")["response_format"] == {"type": "json_object"}
    assert "response_format" not in _body(prompt(), "text")
    assert "response_format" not in _body(prompt(reply=None), "json_schema")


async def test_what_the_ledger_holds_needs_no_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "litellm", None)
    from ragstone.kernel.llm.door import prompt_key

    async with litellm_door(tmp_path) as door:
        await door._ledger.put(prompt_key(MODEL, prompt()), MODEL, Completion(text=verdict(1)))
        assert (await door.ask(prompt())).value.score == 1


async def test_two_addresses_are_two_models_in_the_ledger(tmp_path):
    async with litellm_door(tmp_path, base_url="https://user:password@one.example/v1") as door:
        assert door.endpoint.identity == f"{MODEL}@one.example/v1"


async def test_a_variable_that_is_named_and_not_set_stops_the_run(says, tmp_path):
    async with litellm_door(tmp_path, api_key_env="NO_SUCH_KEY") as door:
        with pytest.raises(ModelError) as caught:
            await door.ask(prompt())
        says(caught.value)


@pytest.mark.model
@pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="needs the package litellm")
@pytest.mark.filterwarnings("default")  # the package's own
class TestReal:
    @pytest.fixture(autouse=True)
    def _key(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setenv("MY_KEY", KEY)
        yield
        assert logging.getLogger("LiteLLM").level == logging.CRITICAL

    async def test_a_reply_its_schema_its_tokens_and_its_probabilities(self, fake_openai, tmp_path, capfd):
        usage = {"prompt_tokens": 50, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 20}}
        fake_openai.key = KEY
        fake_openai.script = lambda body: say(fit_schema(body), usage=usage | {"total_tokens": 59})
        asked = msgspec.structs.replace(prompt(), top_logprobs=2)
        async with litellm_door(tmp_path, base_url=fake_openai.base_url, api_key_env="MY_KEY") as door:
            reply = await door.ask(asked)
        assert isinstance(reply.value, Verdict)
        assert reply.usage == Usage(input=50, output=9, cached=20)
        assert (reply.cost_usd, reply.logprobs) == (None, None)
        [body] = fake_openai.bodies
        assert body["response_format"]["json_schema"]["strict"] is True
        assert (body["model"], body["temperature"], body["max_tokens"]) == ("fake", 0.0, 100)
        assert not any(capfd.readouterr())

    @pytest.mark.parametrize(
        ("said", "status"),
        [
            (
                fail(400, "This model's maximum context length is 8 tokens", code="context_length_exceeded"),
                "error",
            ),
            (
                fail(400, "Your request was rejected by content_policy", code="content_policy_violation"),
                "refused",
            ),
            (fail(429, "slow down", retry_after=0), "rate_limited"),
            (fail(500, "oops"), "error"),
            (say("", refusal="I will not."), "refused"),
            (say("", finish_reason="content_filter"), "refused"),
            (hang(), "timeout"),
        ],
    )
    async def test_failures_become_the_rows_status(self, fake_openai, tmp_path, said, status):
        fake_openai.script = always(said)
        of_model = {"base_url": fake_openai.base_url, "api_key_env": "MY_KEY", "timeout_s": 2}
        async with litellm_door(tmp_path, **of_model) as door:
            with pytest.raises(CallFailed) as caught:
                await door.ask(prompt())
        assert caught.value.status == status

    async def test_who_asks_for_an_hour_is_not_asked_again(self, fake_openai, tmp_path):
        fake_openai.script = always(fail(429, "come back later", retry_after=3600))
        async with litellm_door(tmp_path, base_url=fake_openai.base_url, api_key_env="MY_KEY") as door:
            with pytest.raises(CallFailed, match=r"wait 3600 s"):
                await door.ask(prompt())
        assert fake_openai.n_requests == 1

    async def test_nobody_there_stops_the_run(self, tmp_path):
        async with litellm_door(tmp_path, base_url="http://127.0.0.1:9/v1", api_key_env="MY_KEY") as door:
            with pytest.raises(ModelError):
                await door.ask(prompt())

    async def test_a_provider_that_does_not_exist_is_told_how_models_are_named(self, tmp_path):
        async with opened(Settings(), tmp_path, "litellm/fake") as door:
            with pytest.raises(ModelError, match="litellm/PROVIDER/MODEL") as caught:
                await door.ask(prompt())
        assert not isinstance(caught.value, CallFailed)

    async def test_it_leaves_no_file_behind(self, fake_openai, tmp_path, monkeypatch):
        (tmp_path / "home").mkdir()
        monkeypatch.chdir(tmp_path / "home")
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        async with litellm_door(tmp_path, base_url=fake_openai.base_url, api_key_env="MY_KEY") as door:
            await door.ask(prompt())
        assert list((tmp_path / "home").iterdir()) == []

    async def test_a_wrong_key_stops_the_run_and_is_not_shown(self, fake_openai, tmp_path):
        fake_openai.key = "another"
        async with litellm_door(tmp_path, base_url=fake_openai.base_url, api_key_env="MY_KEY") as door:
            with pytest.raises(ModelError, match="Check the key's environment variable") as caught:
                await door.ask(prompt())
        assert not isinstance(caught.value, CallFailed)
        assert KEY not in str(caught.value)

    async def test_an_endpoint_without_schemas_is_asked_more_loosely_and_remembered(
        self, fake_openai, tmp_path
    ):
        fake_openai.refuse = {"json_schema"}
        fake_openai.script = in_turn(verdict(1), verdict(2))
        async with litellm_door(tmp_path, base_url=fake_openai.base_url, api_key_env="MY_KEY") as door:
            assert (await door.ask(prompt())).value.score == 1
            assert (await door.ask(prompt("Another."))).value.score == 2
        forms = [body["response_format"]["type"] for body in fake_openai.bodies]
        assert forms == ["json_schema", "json_object", "json_object"]
