import contextlib
import json
import sqlite3

import msgspec
import pytest
from tests.support.decision_server import serving_decisions
from tests.support.doors import opened
from tests.support.scripts import fail, hang, html

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.config.sections import PrivacySection
from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.llm import Budget, CallFailed, Caps, Message, Prompt
from ragstone.kernel.llm._decisions import _place
from ragstone.kernel.llm.call_trace import tracing
from ragstone.kernel.llm.door import prompt_key
from ragstone.kernel.llm.models import Models
from ragstone.kernel.llm.providers import at_url, decides, provider_of
from ragstone.kernel.llm.questionnaire import Questionnaire, TypedQuestion
from ragstone.kernel.llm.stub_reply import stub_reply

JEV, LUNA = "systemone/planted", "openai/gpt-6-luna"
BOTH = pytest.mark.parametrize("model", [JEV, LUNA])
QUESTIONS = (
    TypedQuestion(name="q1", type="predicate", text="Is `answer` right?"),
    TypedQuestion(name="q2", type="choice", text="Which is it?", options=(("yes", ""), ("no", "it is not"))),
    TypedQuestion(name="q3", type="score", text="How good is it?", options=(("0", "bad"), ("1", ""))),
)


def asked(*texts, questions=QUESTIONS):
    texts = texts or ("What is 1?", "One.")
    return Prompt(
        messages=tuple(Message("user", text) for text in texts),
        questionnaire=Questionnaire(inputs=("question", "answer")[: len(texts)], questions=questions),
        max_tokens=96,
        default_temperature=None,
    )


CHAT = Prompt(messages=(Message("user", "Hello"),))


async def test_requests_are_those_of_the_two_protocols(decision_server):
    # As openai 3.57.0 (types/decision_create_params.py) and typesafe-sdk 0.7.5 (_schemas/models.py) say.
    for model in (JEV, LUNA):
        async with asking(decision_server, model) as ask:
            await ask(asked())
    jev, luna = decision_server.bodies
    assert decision_server.paths == ["/v1/systemone", "/v1/decisions"]
    assert jev == {
        "model": "planted",
        "state": {"question": "What is 1?", "answer": "One."},
        "questions": {
            "q1": {"type": "noul", "instructions": "Is `answer` right?"},
            "q2": {
                "type": "choice",
                "instructions": "Which is it?",
                "criteria": {"yes": None, "no": "it is not"},
            },
            "q3": {"type": "score", "instructions": "How good is it?", "criteria": ["0: bad", "1"]},
        },
    }
    assert luna == {
        "model": "gpt-6-luna",
        "input": '{"question": "What is 1?", "answer": "One."}',
        "questions": [
            {"type": "predicate", "name": "q1", "instructions": "Is `answer` right?"},
            {
                "type": "choice",
                "name": "q2",
                "instructions": "Which is it?",
                "choices": [{"value": "yes"}, {"value": "no", "description": "it is not"}],
            },
            {
                "type": "score",
                "name": "q3",
                "instructions": "How good is it?",
                "levels": [{"label": "0", "description": "bad"}, {"label": "1"}],
            },
        ],
    }


@contextlib.asynccontextmanager
async def asking(server, model, *, mask=False):
    """Give an Ask of one model of the server as stages have it, without a ledger on disk."""
    settings = msgspec.structs.replace(server.settings(model=model), privacy=PrivacySection(mask=mask))
    async with contextlib.AsyncExitStack() as stack:
        yield await Models(settings, stack, Budget(), serving=True).ask(model)


@BOTH
async def test_a_call_is_kept_and_paid_once(decision_server, tmp_path, model):
    budget, again = Budget(), Budget()
    async with opened(decision_server.settings(tmp_path, model), tmp_path, model, budget) as door:
        first = await door.ask(asked())
    async with opened(
        decision_server.settings(tmp_path, model), tmp_path, model, again, offline=True
    ) as door:
        second = await door.ask(asked())
    assert first.value == second.value
    assert second.cost_usd == first.cost_usd
    assert (budget.made, again.made, again.from_ledger, decision_server.n_requests) == (1, 0, 1, 1)
    assert first.cost_usd == pytest.approx(first.usage.input / 1e6)
    [stored] = (
        sqlite3.connect(tmp_path / "ledger.sqlite").execute("select count(*) from responses").fetchone()
    )
    assert stored == 1


async def test_each_question_text_and_option_is_a_part_of_the_key():
    def key(prompt):
        return prompt_key("systemone/planted", prompt)

    plain = asked()
    others = [
        asked("What is 2?", "One."),
        asked(questions=QUESTIONS[:2]),
        asked(questions=(QUESTIONS[1], QUESTIONS[0], QUESTIONS[2])),
        asked(questions=(msgspec.structs.replace(QUESTIONS[0], about="that"), *QUESTIONS[1:])),
        asked(
            questions=(*QUESTIONS[:2], msgspec.structs.replace(QUESTIONS[2], options=(("0", ""), ("1", ""))))
        ),
    ]
    keys = [key(prompt) for prompt in (plain, *others)]
    assert len(set(keys)) == len(keys)
    assert key(plain) == key(asked())


async def test_a_temperature_of_the_settings_is_neither_sent_nor_a_part_of_the_key(decision_server, tmp_path):
    for temperature in (0.0, 1.0):
        settings = decision_server.settings(tmp_path, temperature=temperature)
        async with opened(settings, tmp_path, JEV) as door:
            await door.ask(asked())
    assert decision_server.n_requests == 1
    assert "temperature" not in decision_server.bodies[0]


@pytest.mark.parametrize("mask", [False, True])
async def test_personal_data_is_masked_where_the_settings_say_so(decision_server, mask):
    mail = "anna.schmidt@example.org"
    about = msgspec.structs.replace(QUESTIONS[0], about=f"Write to {mail}.")
    async with asking(decision_server, JEV, mask=mask) as ask:
        await ask(asked("Whom?", f"Write to {mail}.", questions=(about,)))
    sent = json.dumps(decision_server.bodies[0])
    assert (mail in sent) == (not mask)
    if mask:
        [question] = decision_server.bodies[0]["questions"].values()
        masked = decision_server.bodies[0]["state"]["answer"]
        # One placeholder for one address.
        assert json.dumps(masked) in question["instructions"]


@BOTH
async def test_who_asks_for_words_is_told_before_anything_is_sent(decision_server, tmp_path, model, says):
    async with opened(decision_server.settings(tmp_path, model), tmp_path, model) as door:
        with pytest.raises(ModelError) as refused:
            await door.ask(CHAT)
        with pytest.raises(ModelError):
            await door.stream(CHAT, print)
    assert decision_server.n_requests == 0
    says(refused.value)


async def test_a_model_that_writes_is_asked_no_typed_questions(fake_openai, tmp_path, says):
    async with opened(fake_openai.settings(), tmp_path) as door:
        with pytest.raises(ModelError) as error:
            await door.ask(asked())
        says(error.value)
    assert fake_openai.n_requests == 0


ENDPOINTS = {
    "404": fail(404, "Not Found"),
    "400 with words": fail(400, "This model is not supported on /decisions"),
    "422 of FastAPI": fail(422, "too many questions (65 > 64)"),
    "401": fail(401, "Incorrect API key provided", code="invalid_api_key"),
    "500": fail(500, "overloaded"),
    "a web page": html(),
    "chat": None,
}


@BOTH
@pytest.mark.parametrize("name", ENDPOINTS)
async def test_an_endpoint_that_cannot_decide_says_so_in_one_sentence(
    decision_server, tmp_path, model, name, says
):
    if ENDPOINTS[name] is None:  # an endpoint that takes every path, and answers as it always does
        decision_server.spoil = lambda _reply: {"choices": [{"message": {"content": '{"verdict": true}'}}]}
    else:
        decision_server.refuse = lambda _body: ENDPOINTS[name]
    async with opened(decision_server.settings(tmp_path, model), tmp_path, model) as door:
        with pytest.raises((ModelError, CallFailed)) as failure:
            await door.ask(asked())
    kind = failure.value.status if isinstance(failure.value, CallFailed) else "ends the run"
    says(f"{kind}: {failure.value}")


@BOTH
async def test_a_busy_endpoint_is_asked_again_after_the_time_it_names(decision_server, tmp_path, model):
    answers = [fail(429, "slow down", retry_after=0.05)]
    decision_server.refuse = lambda _body: answers.pop() if answers else None
    async with opened(decision_server.settings(tmp_path, model), tmp_path, model) as door:
        reply = await door.ask(asked())
    assert reply.value[0].probabilities
    assert decision_server.n_requests == 2


@pytest.mark.long
@BOTH
async def test_a_hung_endpoint_costs_a_timeout(decision_server, tmp_path, model):
    decision_server.refuse = lambda _body: hang()
    settings = decision_server.settings(tmp_path, model, timeout_s=0.1)
    async with opened(settings, tmp_path, model) as door:
        with pytest.raises(CallFailed) as failure:
            await door.ask(asked())
    assert failure.value.status == "timeout"


@BOTH
async def test_a_cap_is_not_exceeded(decision_server, tmp_path, model):
    budget = Budget(Caps(calls=1))
    async with opened(decision_server.settings(tmp_path, model), tmp_path, model, budget) as door:
        await door.ask(asked())
        with pytest.raises(CallFailed) as failure:
            await door.ask(asked("What is 2?", "Two."))
    assert failure.value.status == "over_budget"
    assert decision_server.n_requests == 1


async def test_questions_count_in_what_a_call_may_cost(decision_server, tmp_path):
    long = msgspec.structs.replace(QUESTIONS[0], text="Is it? " * 2_000)
    budget = Budget(Caps(usd=0.005))  # at 1 USD a million, 14,000 bytes may be 14,000 tokens
    async with opened(decision_server.settings(tmp_path), tmp_path, JEV, budget) as door:
        await door.ask(asked())
        with pytest.raises(CallFailed) as failure:
            await door.ask(asked(questions=(long,)))
    assert failure.value.status == "over_budget"


@BOTH
async def test_batches_are_refused_in_one_sentence(decision_server, tmp_path, model, says):
    async with opened(decision_server.settings(tmp_path, model), tmp_path, model) as door:
        with pytest.raises(ModelError) as error:
            door.by_batch(tmp_path, lambda _name, _n: None)
        says(error.value)


async def test_the_call_log_has_questions_texts_and_answers(decision_server, tmp_path):
    async with opened(decision_server.settings(tmp_path), tmp_path, JEV) as door:
        with tracing() as trace:
            await door.ask(asked())
    [exchange] = trace.exchanges()
    questions, question, answer, reply = (message.content for message in exchange.messages)
    assert "Is `answer` right?" in questions
    assert (question, answer) == ("question: What is 1?", "answer: One.")
    assert "noul" in reply


def test_a_forecast_has_answers_that_nobody_gave():
    values = stub_reply(asked()).value
    assert [value.probabilities for value in values] == [(0.5, 0.5)] * 3


def test_who_decides_is_told_by_transport_or_settings():
    decision = ModelSettings(api="decisions")
    assert decides("systemone/jev-latest", ModelSettings())
    assert decides("recorded/systemone/jev-latest", ModelSettings())
    # It writes too: its name does not tell.
    assert not decides("openai/gpt-6-luna", ModelSettings())
    assert decides("openai/gpt-6-luna", decision)
    with pytest.raises(ModelError, match="Remove it"):
        decides("anthropic/claude", decision)


@pytest.mark.parametrize(
    ("model", "base_url", "url"),
    [
        ("systemone/jev-latest", None, "https://api.typesafe.ai/v1/systemone"),
        ("systemone/x", "http://localhost:8000", "http://localhost:8000/v1/systemone"),
        ("systemone/x", "http://localhost:8000/v1/", "http://localhost:8000/v1/systemone"),
        ("systemone/x", "https://gateway/api/alpha/decisions", "https://gateway/api/alpha/decisions"),
        ("systemone/http://localhost:8000/laya", None, "http://localhost:8000/v1/systemone"),
        ("openai/gpt-6-luna", None, "https://api.openai.com/v1/decisions"),
        ("openai/x", "http://localhost:8000/v1", "http://localhost:8000/v1/decisions"),
        ("openrouter/typesafe/jev-latest", None, "https://openrouter.ai/api/alpha/decisions"),
        ("openrouter/typesafe/jev-latest", "http://proxy/v1", "http://proxy/v1/decisions"),
    ],
)
def test_the_address_follows_from_name_and_base_url(model, base_url, url):
    provider, name = provider_of(model)
    _, settings = at_url(name, ModelSettings(base_url=base_url, api="decisions"))
    place = _place(provider, settings, provider.address(settings))
    assert place.provider.address(place.settings) + place.path == url


@pytest.mark.parametrize(
    ("name", "lacks"),
    [
        ("http://localhost:8000", "a model"),
        ("http://localhost:8000/", "a model"),
        ("https://", "a model"),
        ("localhost:8000/laya", "its protocol"),
        ("127.0.0.1/laya", "its protocol"),
        ("gateway:8000/laya", "its protocol"),
    ],
)
def test_half_an_address_is_no_name_of_a_model_elsewhere(name, lacks, says):
    # Before, the rows went to TypeSafe, whose model "http://localhost:8000" was then unknown.
    with pytest.raises(ModelError) as error:
        at_url(name, ModelSettings())
    says(error.value)


@pytest.mark.parametrize("name", ["jev-latest", "typesafe/jev", "jev-1.5:2026", "jev:20"])
def test_names_of_models_are_no_addresses(name):
    assert at_url(name, ModelSettings()) == (name, ModelSettings())


async def test_a_model_named_by_its_address_needs_no_table(tmp_path):
    with serving_decisions() as server:
        model = f"systemone/{server.base_url}/some/laya"
        async with opened(Settings(root=str(tmp_path)), tmp_path, model) as door:
            await door.ask(asked())
            assert door.endpoint.identity == f"systemone/some/laya@{server.base_url.partition('//')[2]}"
        assert server.bodies[0]["model"] == "some/laya"


async def test_the_key_goes_along_and_a_missing_one_is_told(decision_server, tmp_path, monkeypatch):
    decision_server.key = "secret"
    monkeypatch.setenv("MY_KEY", "secret")
    settings = decision_server.settings(tmp_path, api_key_env="MY_KEY")
    async with opened(settings, tmp_path, JEV) as door:
        await door.ask(asked())
    monkeypatch.delenv("TYPESAFE_API_KEY", raising=False)
    async with opened(Settings(root=str(tmp_path)), tmp_path, "systemone/jev-latest") as door:
        with pytest.raises(ModelError, match="TYPESAFE_API_KEY"):
            await door.ask(asked())


async def test_a_field_of_the_provider_is_sent_and_its_refusal_names_it(decision_server, tmp_path):
    settings = decision_server.settings(tmp_path, extra={"safety_identifier": "me"})
    async with opened(settings, tmp_path, JEV) as door:
        await door.ask(asked())
    assert decision_server.bodies[0]["safety_identifier"] == "me"
    decision_server.refuse = lambda _body: fail(400, "Unknown parameter: safety_identifier")
    async with opened(settings, tmp_path / "other", JEV) as door:
        with pytest.raises(ModelError, match="safety_identifier"):
            await door.ask(asked())


def test_an_unknown_api_is_a_mistake_of_the_settings(tmp_path):
    from ragstone.kernel.config import load_settings

    (tmp_path / "ragstone.toml").write_text('[models."openai/x"]\napi = "decide"\n')
    with pytest.raises(ConfigError, match="api"):
        load_settings(tmp_path / "ragstone.toml")
