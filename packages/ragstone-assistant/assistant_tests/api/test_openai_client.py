"""The `openai` package asks the server, as people's programs do."""

import asyncio

import openai
import pytest
from tests.support.served_assistant import KEYS, Scripted, said, served

from ragstone.kernel.config.serving import ServeSection
from ragstone_assistant.conversation import Doing, TextPiece

ASKED = [{"role": "user", "content": "When is maize sown?"}]


@pytest.fixture
def scripted():
    return Scripted()


@pytest.fixture
def url(scripted, tmp_path):
    with served(scripted, ServeSection(max_question_kb=4), tmp_path, keys=KEYS) as address:
        yield f"{address}/v1"


def client_of(url, key=KEYS["anna"], kind=openai.OpenAI):
    return kind(base_url=url, api_key=key, max_retries=0)


def test_a_whole_reply(url):
    with client_of(url) as client:
        reply = client.chat.completions.create(
            model="assistant", messages=ASKED, temperature=0.2, max_tokens=10
        )
        assert reply.choices[0].message.content == "Sow in May [1]."
        assert reply.usage.total_tokens == 150
        assert reply.ragstone["citations"][0]["page"] == 2
        assert [model.id for model in client.models.list()] == ["assistant"]
        assert client.models.retrieve("assistant").owned_by == "ragstone"


def test_a_streamed_reply_with_tokens(url):
    with client_of(url) as client:
        stream = client.chat.completions.create(
            model="assistant", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
        chunks = list(stream)
    texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(texts) == "Sow in May [1]."
    assert chunks[-1].usage.total_tokens == 150
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"


def test_the_client_s_own_accumulation_of_a_stream(url):
    with (
        client_of(url) as client,
        client.chat.completions.stream(model="assistant", messages=ASKED) as stream,
    ):
        assert stream.get_final_completion().choices[0].message.content == "Sow in May [1]."


async def test_many_at_once(url):
    async with client_of(url, kind=openai.AsyncOpenAI) as client:

        async def one():
            stream = await client.chat.completions.create(model="assistant", messages=ASKED, stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

        assert await asyncio.gather(*(one() for _ in range(20))) == ["Sow in May [1]."] * 20


def test_a_conversation_by_its_id(url, scripted):
    with client_of(url) as client:
        first = client.chat.completions.create(model="assistant", messages=ASKED)
        more = {"conversation_id": first.ragstone["conversation_id"], "filters": {"crop": "maize"}}
        client.chat.completions.create(model="assistant", messages=ASKED, extra_body=more)
    assert len(scripted.asked[1].turns) == 3
    assert scripted.asked[1].filters == {"crop": "maize"}


def test_errors_are_those_that_the_client_knows(url, scripted):
    with client_of(url, key="wrong") as client, pytest.raises(openai.AuthenticationError):
        client.chat.completions.create(model="assistant", messages=ASKED)
    with client_of(url) as client:
        with pytest.raises(openai.NotFoundError) as unknown:
            client.chat.completions.create(model="gpt-4o", messages=ASKED)
        assert unknown.value.code == "model_not_found"
        with pytest.raises(openai.BadRequestError, match=r"messages\[0\]\.role"):
            client.chat.completions.create(model="assistant", messages=[{"role": "pirate", "content": "x"}])
        with pytest.raises(openai.APIStatusError) as long:
            client.chat.completions.create(
                model="assistant", messages=[{"role": "user", "content": "x" * 5000}]
            )
        assert long.value.status_code == 413
        scripted.say(ZeroDivisionError("secret"))
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model="assistant", messages=ASKED)


def test_an_error_in_the_middle_of_a_stream_is_raised_by_the_client(url, scripted, says):
    scripted.say(TextPiece("Sow"), ZeroDivisionError("secret"))
    with client_of(url) as client:
        stream = client.chat.completions.create(model="assistant", messages=ASKED, stream=True)
        with pytest.raises(openai.APIError) as error:
            list(stream)
        says(error.value)


def test_the_limit_of_requests_is_known_as_such(scripted, tmp_path):
    section = ServeSection(requests_per_minute=1)
    with served(scripted, section, tmp_path) as address, client_of(f"{address}/v1") as client:
        client.models.list()
        with pytest.raises(openai.RateLimitError) as refused:
            client.models.list()
    assert 1 <= int(refused.value.response.headers["retry-after"]) <= 60


@pytest.mark.parametrize("stream", [True, False])
async def test_who_hangs_up_ends_the_work(url, scripted, stream):
    scripted.say(Doing("search_documents", "Searching"), 60, said())
    async with client_of(url, kind=openai.AsyncOpenAI) as client:
        asking = asyncio.ensure_future(_drain(client, stream))
        await until(lambda: scripted.asked)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    await until(lambda: scripted.cancelled)
    assert scripted.cancelled == 1
    assert scripted.log.rows == []


async def until(happened):
    for _ in range(1000):
        if happened():
            return
        await asyncio.sleep(0.01)


async def _drain(client, stream):
    reply = await client.chat.completions.create(model="assistant", messages=ASKED, stream=stream)
    if stream:
        async for _ in reply:
            pass


@pytest.mark.long
async def test_one_reply_at_a_time_is_written_in_a_conversation(url, scripted):
    async with client_of(url, kind=openai.AsyncOpenAI) as client:
        first = await client.chat.completions.create(model="assistant", messages=ASKED)
        scripted.say(0.3, said())
        more = {"conversation_id": first.ragstone["conversation_id"]}

        async def again(**options):
            return await client.chat.completions.create(
                model="assistant", messages=ASKED, extra_body=more, **options
            )

        slow = asyncio.ensure_future(again())
        await asyncio.sleep(0.1)
        with pytest.raises(openai.ConflictError):
            await again()
        with pytest.raises(openai.ConflictError):
            await again(stream=True)
        await slow
        scripted.say(said())
        assert [chunk async for chunk in await again(stream=True)]
        assert await again()
