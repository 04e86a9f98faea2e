"""Embedders at an OpenAI-compatible endpoint: limits, retries, budget, and nothing paid twice."""

import asyncio
import base64
import math
import signal
import subprocess
import sys
import time

import msgspec
import numpy as np
import pytest
from tests.support.fake_openai import ROOT, let_go, serving_as, stats
from tests.support.scripts import Said, cut_connection, embed_words, fail, hang, html, in_turn, vectors_said

from ragstone.kernel.config import Price, Settings
from ragstone.kernel.embedding._endpoint import BATCH_BYTES, batches_of
from ragstone.kernel.embedding.embedder import Embedder
from ragstone.kernel.embedding.model import BATCH, TextRefused
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import Budget, CallFailed, Caps

TEXTS = [f"text number {n}" for n in range(3 * BATCH)]


@pytest.fixture
def opened(fake_openai, tmp_path):
    """Open the fake endpoint's embedder, with settings of the model and of open_embedder."""
    embedders: list[Embedder] = []

    def open_fake(budget=None, offline=False, name="openai/fake", **of_model) -> Embedder:
        table = fake_openai.settings(**of_model).models["openai/fake"]
        settings = Settings(models={name: table}, root=str(tmp_path))
        embedders.append(open_embedder(name, tmp_path / ".ragstone", settings, budget, offline=offline))
        return embedders[-1]

    yield open_fake
    for embed in embedders:
        embed.close()


@pytest.fixture
def no_backoff(monkeypatch):
    monkeypatch.setattr("ragstone.kernel.llm._calling.backoff_s", lambda _attempt, _draw: 0.001)


def test_texts_go_in_batches_that_fly_together_and_come_back_in_order(fake_openai, opened):
    fake_openai.latency_s = 0.05
    budget = Budget()
    vectors = opened(budget)(TEXTS, "passage")
    expected = np.array(
        [row["embedding"] for row in msgspec.json.decode(embed_words({"input": TEXTS}).raw)["data"][::-1]]
    )
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)
    assert (fake_openai.n_requests, fake_openai.most_in_flight, budget.made) == (3, 3, 3)
    assert max(len(body["input"]) for body in fake_openai.bodies) == BATCH
    # fake usage: a quarter of the characters, plus one, for each text
    assert budget.usage.input == sum(len(text) // 4 + 1 for text in TEXTS)


def test_no_more_fly_together_than_the_settings_allow(fake_openai, opened):
    fake_openai.latency_s = 0.02
    opened(max_concurrency=1)(TEXTS, "passage")
    assert fake_openai.most_in_flight == 1


def test_a_second_run_asks_for_what_is_new_only(fake_openai, opened):
    first = opened()(TEXTS, "passage")
    again = opened()
    assert again([*TEXTS, "new"], "passage")[:-1].tobytes() == first.tobytes()
    assert fake_openai.bodies[-1]["input"] == ["new"]
    assert (again.n_embedded, again.n_cached) == (1, len(TEXTS))


def test_prefixes_dimensions_and_the_model_go_with_the_request(fake_openai, opened):
    embed = opened(query_prefix="query: ", passage_prefix="passage: ", dimensions=16)
    assert embed(["a"], "query").shape == (1, 16)
    embed(["a"], "passage")
    assert [body["input"] for body in fake_openai.bodies] == [["query: a"], ["passage: a"]]
    assert {(body["model"], body["dimensions"]) for body in fake_openai.bodies} == {("fake", 16)}


def test_another_address_dimension_or_prefix_makes_other_vectors(fake_openai, opened):
    opened()(["a"], "query")
    for other in (
        {"dimensions": 8},
        {"query_prefix": "q: "},
        {"name": "openai/fake2"},
        {"base_url": fake_openai.base_url.replace("127.0.0.1", "localhost")},
    ):
        before = fake_openai.n_requests
        opened(**other)(["a"], "query")
        assert fake_openai.n_requests == before + 1, other
    opened(passage_prefix="p: ")(["a"], "query")
    assert fake_openai.n_requests == 5


def test_blank_texts_are_not_sent(fake_openai, opened):
    vectors = opened()(["", "a", " \n"], "passage")
    assert fake_openai.bodies[0]["input"] == ["a"]
    assert vectors[0].tolist() == vectors[2].tolist() == [0.0] * 64


def test_half_a_surrogate_pair_is_sent_as_a_question_mark(fake_openai, opened):
    opened()(["a\ud800b"], "passage")
    assert fake_openai.bodies[0]["input"] == ["a?b"]


def test_faults_that_pass_are_retried(fake_openai, opened, no_backoff):
    faults = (fail(429, "slow down", retry_after=0.01), fail(500, "oh"), cut_connection(), fail(503, "busy"))
    fake_openai.embedding = in_turn(embed_words, *faults, embed_words)
    budget = Budget()
    opened(budget, max_concurrency=1)(TEXTS, "passage")
    assert (fake_openai.n_requests, budget.retries, budget.made) == (7, 4, 7)
    assert set(fake_openai.embedded.values()) == {1}


def test_a_batch_that_is_lost_keeps_the_others(fake_openai, opened, no_backoff, says):
    def script(body):
        return fail(500, "oh") if TEXTS[0] in body["input"] else embed_words(body)

    fake_openai.embedding = script
    budget = Budget()
    with pytest.raises(CallFailed) as lost:
        opened(budget)(TEXTS, "passage")
    says(lost.value)
    assert lost.value.status == "error"
    assert dict(budget.failed) == {"error": 1}
    fake_openai.embedding = embed_words
    fake_openai.embedded.clear()
    opened()(TEXTS, "passage")
    assert sorted(fake_openai.embedded) == sorted(TEXTS[:BATCH])


@pytest.mark.long
def test_a_hung_endpoint_costs_a_timeout(fake_openai, opened, no_backoff, says):
    fake_openai.embedding = lambda body: hang() if TEXTS[0] in body["input"] else embed_words(body)
    started = time.monotonic()
    with pytest.raises(CallFailed) as lost:
        opened(timeout_s=0.6)(TEXTS, "passage")
    says(lost.value)
    assert lost.value.status == "timeout"
    assert time.monotonic() - started < 60
    assert fake_openai.embedded.total() == 2 * BATCH


def test_an_endpoint_that_is_not_there_is_an_error_that_names_it(opened, no_backoff, says):
    with pytest.raises(ModelError) as error:
        opened(base_url="http://127.0.0.1:1/v1")(["a"], "query")
    says(error.value)


def test_a_missing_or_wrong_key_is_told_at_once(fake_openai, opened, monkeypatch, says):
    with pytest.raises(ModelError) as error:
        opened(api_key_env="NO_KEY")(["a"], "query")
    says(error.value)
    fake_openai.key = "right"
    monkeypatch.setenv("WRONG_KEY", "wrong")
    with pytest.raises(ModelError, match="refused the key"):
        opened(api_key_env="WRONG_KEY", max_concurrency=1)(TEXTS, "query")
    assert fake_openai.n_requests == 1


def test_calls_stay_within_the_cap_and_running_again_goes_on(fake_openai, opened, says):
    with pytest.raises(CallFailed) as over:
        opened(Budget(Caps(calls=2)))(TEXTS, "passage")
    says(over.value)
    assert over.value.status == "over_budget"
    assert fake_openai.n_requests == 2
    opened(Budget(Caps(calls=1)))(TEXTS, "passage")
    assert fake_openai.n_requests == 3
    assert set(fake_openai.embedded.values()) == {1}


def test_tokens_and_money_stay_within_their_caps_and_what_is_left_is_used(fake_openai, opened, says):
    budget = Budget(Caps(tokens=500))
    with pytest.raises(CallFailed) as error:
        opened(budget)(TEXTS, "passage")
    says(error.value)
    assert 0 < budget.usage.input <= 500
    # Each text is at most 16 bytes and 8 more: a batch reserves some 1,500 tokens, and halves of it fit.
    assert fake_openai.embedded.total() > 60
    price = Price(input=1.0, output=0.0)
    money = Budget(Caps(usd=2e-3))
    with pytest.raises(CallFailed) as error:
        opened(money, price_usd_per_million=price, query_prefix="q")(
            [f"{n} {n}" for n in range(1000)], "query"
        )
    says(error.value)
    assert money.usd == pytest.approx(money.usage.input * 1e-6)
    assert 0 < money.usd <= 2e-3


def test_the_deadline_of_the_run_ends_it(fake_openai, opened, says):
    fake_openai.latency_s = 30
    budget = Budget(Caps(seconds=0.3))
    with pytest.raises(CallFailed) as late:
        opened(budget)(TEXTS, "passage")
    says(late.value)
    assert late.value.status == "timeout"
    assert budget.late == 3


def test_offline_uses_the_store_alone(fake_openai, opened, says):
    opened()(["a"], "passage")
    offline = opened(offline=True)
    assert offline(["a"], "passage").shape == (1, 64)
    with pytest.raises(ModelError) as error:
        offline(["a", "b"], "passage")
    says(error.value)
    assert fake_openai.n_requests == 1


def test_requests_a_minute_are_kept(fake_openai, opened):
    opened(requests_per_minute=300)(
        TEXTS, "passage"
    )  # 200 ms between requests: 400 from the first to the third
    times = sorted(fake_openai.arrivals)
    assert times[2] - times[0] >= 0.3  # for the first may arrive late, on a machine that has much to do


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (vectors_said([[1.0]]), "gave 1 vector for 2 texts"),
        (vectors_said([[1.0], [1.0], [1.0]]), "gave 3 vectors for 2 texts"),
        (vectors_said([[1.0], [1.0, 2.0]]), "gave vectors of 1 and 2 numbers"),
        (vectors_said([[], []]), "gave vectors of 0 numbers"),
        (vectors_said([[1e39], [1.0]]), "not finite"),
        (vectors_said(["AAAAAA==", "!"]), "gave vectors of 0 and 1 numbers"),
        (vectors_said([[math.nan], [1.0]]), "returned no readable embeddings"),
        (html(), "returned no readable embeddings: .* base_url usually ends in /v1"),
    ],
)
def test_nonsense_is_told_and_not_stored(fake_openai, opened, no_backoff, said, message):
    fake_openai.embedding = lambda _body: said
    embed = opened()
    with pytest.raises(ModelError, match=message):
        embed(["a", "b"], "passage")
    assert embed.n_embedded == 0


def test_vectors_whose_numbering_has_gaps_are_nonsense(fake_openai, opened, says):
    twice = vectors_said([[1.0], [2.0]]).raw.replace(b'"index": 1', b'"index": 0')
    fake_openai.embedding = lambda _body: Said(raw=twice)
    with pytest.raises(ModelError) as error:
        opened()(["a", "b"], "passage")
    says(error.value)


def test_base64_is_understood(fake_openai, opened):
    vector = base64.b64encode(np.array([3.0, 4.0], dtype="<f4").tobytes()).decode()
    fake_openai.embedding = lambda _body: vectors_said([vector])
    np.testing.assert_allclose(opened()(["a"], "passage"), [[0.6, 0.8]], rtol=1e-6)


def test_another_dimension_in_the_middle_is_an_error(fake_openai, opened, says):
    fake_openai.embedding = lambda body: embed_words(body, 8 if TEXTS[0] in body["input"] else 9)
    with pytest.raises(ModelError) as error:
        opened()(TEXTS, "passage")
    says(error.value)


def test_a_text_that_is_too_long_is_named_and_the_others_are_kept(fake_openai, opened, says):
    long = "long " * 100

    def script(body):
        if long in body["input"]:
            return fail(400, "maximum context length is 8192 tokens")
        return embed_words(body)

    fake_openai.embedding = script
    embed = opened()
    with pytest.raises(TextRefused) as refusal:
        embed([*TEXTS[:10], long, *TEXTS[10:]], "passage")
    says(refusal.value)
    assert refusal.value.text == long
    assert embed.n_embedded == len(TEXTS)
    assert set(fake_openai.embedded.values()) == {1}


@pytest.mark.parametrize("status", [413, 422])
def test_a_batch_that_is_too_large_is_sent_in_parts_and_the_next_ones_are_smaller(
    fake_openai, opened, status
):
    def script(body):
        n = len(body["input"])
        return (
            embed_words(body) if n <= 20 else fail(status, f"batch size {n} > maximum allowed batch size 20")
        )

    fake_openai.embedding = script
    opened(max_concurrency=1)([f"{n}" for n in range(400)], "passage")
    assert fake_openai.embedded.total() == 400
    # 64, 32 are refused; then 400 / 16 fit: 25 requests and a few for what is left of cut batches.
    refused = [body for body in fake_openai.bodies if len(body["input"]) > 20]
    assert len(refused) == 2
    assert fake_openai.n_requests <= 2 + 32


def test_an_endpoint_that_refuses_every_text_is_given_up(fake_openai, opened, says):
    fake_openai.embedding = lambda _body: fail(400, "this model does not support embeddings")
    with pytest.raises(ModelError) as error:
        opened(max_concurrency=1)([f"{n}" for n in range(1000)], "passage")
    says(error.value)
    assert fake_openai.n_requests < 40


def test_batches_are_cut_by_number_and_by_bytes():
    assert batches_of(["a"] * (BATCH + 1)) == [[*range(BATCH)], [BATCH]]
    third = "क" * (BATCH_BYTES // 9)  # three bytes each: three of them fill a batch
    assert batches_of([third, third, third, third]) == [[0, 1, 2], [3]]
    assert batches_of(["a", "b" * BATCH_BYTES, "c"]) == [[0], [1], [2]]
    assert batches_of([]) == []


async def test_it_works_within_a_running_loop_and_from_several_threads_at_once(fake_openai, opened):
    fake_openai.latency_s = 0.01
    embed = opened()
    assert embed(["a"], "query").shape == (1, 64)
    found = await asyncio.gather(*(asyncio.to_thread(embed, ["a", "b", "c"], "query") for _ in range(4)))
    assert len({vectors.tobytes() for vectors in found}) == 1
    assert set(fake_openai.embedded.values()) == {1}


def test_a_closed_embedder_sends_nothing_more(fake_openai, opened):
    embed = opened()
    embed(["a"], "query")
    embed.close()
    with pytest.raises(ModelError, match="stopped"):
        embed(["b"], "query")
    assert embed(["a"], "query").shape == (1, 64)
    embed.close()


SCRIPT = """
import sys
from pathlib import Path
from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.embedding import open_embedder
table = ModelSettings(base_url=sys.argv[1], max_concurrency=4)
embed = open_embedder("openai/fake", Path(sys.argv[2]), Settings(models={"openai/fake": table}))
print("begun", flush=True)
vectors = embed([f"text number {n}" for n in range(2000)], "passage")
print(vectors.shape, embed.n_embedded)
"""


@pytest.mark.kill
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_run_again_nothing_that_landed_is_paid_twice(tmp_path, how):
    with serving_as("--latency", "0.1", "--gate", "8") as base_url:
        command = [sys.executable, "-W", "error", "-c", SCRIPT, base_url, str(tmp_path)]
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "begun\n"
        while stats(base_url)["n_embedded"] < 8 * BATCH:
            time.sleep(0.01)
        process.send_signal(how)
        let_go(base_url)
        process.communicate()
        assert process.returncode != 0
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        assert "(2000, 64)" in done.stdout
        # Four batches were in flight; after Ctrl-C they come home.
        most = 4 * BATCH if how == signal.SIGKILL else 0
        assert stats(base_url)["n_embedded_again"] <= most


def test_a_provider_that_speaks_the_protocol_embeds_by_its_name(fake_openai, opened):
    assert opened(name="mistral/mistral-embed")(["two words"], "query").shape == (1, 64)
    assert fake_openai.bodies[0]["model"] == "mistral-embed"
    with pytest.raises(ModelError, match="unknown embedder 'anthropic/x'"):
        opened(name="anthropic/x")
