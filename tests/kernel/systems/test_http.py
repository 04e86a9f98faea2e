"""An application behind HTTP: what is sent, what is read, and what becomes of every wrong reply."""

import msgspec
import pytest
from tests.support.fake_retriever import Answered, serving

from ragstone.kernel.config import HttpSystem
from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.llm.failures import AppFailed
from ragstone.kernel.records import Context, Question, Step
from ragstone.kernel.systems._http import http_prompt, open_http_system
from ragstone.kernel.systems._reply import SystemReply

QUESTION = Question(id="q1", question="When & where?", lang="en", tags={"crop": "corn"})


@pytest.fixture
def fake():
    with serving() as server:
        server.script = lambda asked: {"answer": "In May."}
        yield server


async def ask(fake, *, question=QUESTION, times=1, **given):
    declared = HttpSystem(**{"url": fake.url, **given})
    async with open_http_system("mine", declared) as endpoint:
        for _ in range(times):
            completion = await endpoint.send(http_prompt(declared, question))
    return msgspec.json.decode(completion.text, type=SystemReply), completion


async def test_the_question_goes_out_as_the_template_says_and_the_answer_comes_back_by_path(fake):
    said, completion = await ask(fake)
    assert said == SystemReply(answer="In May.")
    assert completion.latency_s > 0
    assert completion.cost_usd is None
    (asked,) = fake.asked
    assert (asked.method, asked.body) == ("POST", {"question": "When & where?"})


async def test_id_language_and_tags_are_filled_in_and_an_unknown_one_is_null(fake):
    template = {"q": "{question}", "n": "{id}", "l": "{lang}", "crop": "{tag.crop}", "month": "{tag.month}"}
    await ask(fake, request=template)
    body = {"q": "When & where?", "n": "q1", "l": "en", "crop": "corn", "month": None}
    assert fake.asked[0].body == body


async def test_an_empty_request_makes_it_a_get_with_the_question_in_the_address(fake):
    await ask(fake, url=f"{fake.url}?q={{question}}", request={})
    assert (fake.asked[0].method, fake.asked[0].path) == ("GET", "/search?q=When%20%26%20where?")


async def test_a_key_is_sent_as_bearer_or_where_the_headers_say_and_headers_are_sent(fake, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret-key")
    await ask(fake, api_key_env="MY_KEY", headers={"X-Team": "maize"})
    assert fake.asked[0].headers["Authorization"] == "Bearer secret-key"
    assert fake.asked[0].headers["X-Team"] == "maize"
    await ask(fake, api_key_env="MY_KEY", headers={"api-key": "{key}"})
    assert fake.asked[1].headers["api-key"] == "secret-key"
    assert "Authorization" not in fake.asked[1].headers


async def test_contexts_are_texts_or_objects_and_tokens_and_cost_are_read(fake):
    fake.script = lambda asked: {
        "out": {"text": "In May."},
        "sources": [{"text": "a", "id": 7, "document_id": "d1", "score": 0.5}, {"text": "b"}],
        "passages": ["x", "y"],
        "usage": {"in": 10, "out": 4},
        "usd": 0.002,
    }
    paths = {"input_tokens": "$.usage.in", "output_tokens": "$.usage.out", "cost_usd": "$.usd"}
    said, completion = await ask(fake, answer="$.out.text", contexts="$.sources[*]", **paths)
    assert said.contexts == [Context(text="a", id="7", document_id="d1", score=0.5), Context(text="b")]
    assert (completion.usage.input, completion.usage.output, completion.cost_usd) == (10, 4, 0.002)
    for path in ("$.passages[*]", "$.passages"):
        said, completion = await ask(fake, answer="$.out.text", contexts=path)
        assert said.contexts == [Context(text="x"), Context(text="y")]
    assert (completion.usage.input, completion.usage.output) == (0, 0)


@pytest.mark.parametrize("sources", [[], None])
async def test_a_list_without_contexts_means_that_none_were_found(fake, sources):
    fake.script = lambda asked: {"answer": "x", "sources": sources}
    for path in ("$.sources[*].text", "$.sources"):
        said, _ = await ask(fake, contexts=path)
        assert said.contexts == []


async def test_an_empty_text_is_an_answer(fake):
    fake.script = lambda asked: {"answer": ""}
    assert (await ask(fake))[0].answer == ""


@pytest.mark.parametrize(
    ("reply", "given", "message"),
    [
        (
            {"text": "x", "n": 1},
            {},
            r"nothing at answer = '\$.answer'; it is an object with the keys text, n",
        ),
        (
            [{"text": "x"}],
            {},
            r"it is a list of 1, the first an object with the keys text; a text is at \$\[\*\].text",
        ),
        (
            {"result": {"text": "x"}, "docs": []},
            {},
            r"with the keys result, docs; a text is at \$.result.text$",
        ),
        ({"a b": "x", "c": {"it's": "y"}, "d": ""}, {}, r"; texts are at \$\['a b'\], \$.c\['it\\'s'\]$"),
        ({"answer": ["x"]}, {}, r"is not text; it is a list of 1, .*; a text is at \$.answer\[\*\]$"),
        (
            {"answer": "x", "r": {"d": ["z"], "n": [1]}},
            {"contexts": "$.docs"},
            r"keys answer, r; a list is at \$.r.d$",
        ),
        ({"answer": 42}, {}, r"at answer = '\$.answer' is not text; it is 42"),
        ({"answer": None}, {}, "is not text; it is null"),
        ({"answer": {"text": "x"}}, {}, "is not text; it is an object with the keys text"),
        (
            {"answer": "x"},
            {"contexts": "$.sources[*].text"},
            r"contexts = '\$.sources\[\*\].text': the reply has nothing there; it is an object with the keys",
        ),
        ({"answer": "x", "sources": [{"body_text": 1}]}, {"contexts": "$.sources[*].text"}, "nothing there"),
        ({"answer": "x", "sources": [{"txt": 1}]}, {"contexts": "$.sources"}, "a context needs one of text"),
        ({"answer": "x", "sources": [7, {}]}, {"contexts": "$.sources"}, "a context needs one of text"),
        (Answered(200, b"<!doctype html><p>Hello"), {}, "not JSON: <!doctype html><p>Hello"),
        (Answered(200, b""), {}, "not JSON: an empty reply"),
    ],
)
async def test_a_reply_that_cannot_be_read_says_what_it_holds(fake, reply, given, message):
    fake.script = lambda asked: reply
    with pytest.raises(AppFailed, match=message) as failure:
        await ask(fake, **given)
    assert failure.value.status == "unparsable"
    assert not failure.value.retryable


@pytest.mark.parametrize(
    ("answered", "message", "retryable"),
    [
        (Answered(500, b"oops"), "HTTP 500: oops", True),
        (Answered(503, b"busy"), "HTTP 503: busy", True),
        (Answered(422, b'{"detail": "too long"}'), "refuses the text: too long", False),
    ],
)
async def test_an_error_status_is_the_applications_failure(fake, answered, message, retryable):
    fake.script = lambda asked: answered
    with pytest.raises(AppFailed, match=message) as failure:
        await ask(fake)
    assert failure.value.retryable == retryable


async def test_an_overload_is_no_failure_of_the_application_and_says_for_how_long(fake):
    fake.script = lambda asked: Answered(429, b"slow down", {"Retry-After": "7"})
    with pytest.raises(CallFailed) as failure:
        await ask(fake)
    assert not isinstance(failure.value, AppFailed)
    assert failure.value.retry_after_s == 7.0


async def test_no_reply_in_time_is_told_without_the_question_in_the_address(fake, says):
    fake.latency_s = 0.5
    with pytest.raises(CallFailed) as failure:
        await ask(fake, url=f"{fake.url}?q={{question}}", request={}, timeout_s=0.05)
    says(failure.value)
    assert failure.value.status == "timeout"
    assert "When" not in str(failure.value)


@pytest.mark.parametrize(
    ("code", "message"), [(401, "refused the key"), (404, "Check url"), (405, "Check url")]
)
async def test_a_wrong_key_or_address_ends_everything_unless_something_was_answered(fake, code, message):
    fake.script = lambda asked: Answered(code, b"no")
    with pytest.raises(ModelError, match=message) as failure:
        await ask(fake)
    assert not isinstance(failure.value, CallFailed)
    replies = [{"answer": "x"}, Answered(code, b"no")]
    fake.script = lambda asked: replies.pop(0)
    with pytest.raises(AppFailed, match=message):
        await ask(fake, times=2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"request": {"q": "{question}", "l": "{language}"}},
            r"\[systems.mine\]: nothing fills \{language\}",
        ),
        ({"request": {"q": "{frage}"}}, r"nothing fills \{frage\}"),
        ({"request": {"q": "hello"}}, r"put \{question\} into `request`, or into `url`"),
        ({"headers": {"X": "{key}"}}, r"\{key\} is wanted"),
        ({"url": "http://me:word@a.org", "headers": {"Authorization": "Basic x"}}, "keep one"),
        ({"answer": "$.["}, r"\[systems.mine\] answer = '\$.\[' is not a JSONPath"),
        ({"contexts": "sources["}, r"\[systems.mine\] contexts .* is not a JSONPath"),
    ],
)
async def test_a_template_that_cannot_be_is_told_before_anybody_is_asked(fake, given, message):
    with pytest.raises(ConfigError, match=message):
        await ask(fake, **given)
    assert fake.asked == []


async def test_whatever_decides_the_answer_is_in_the_identity_and_password_and_key_are_not(fake, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret-key")

    async def identity(**given):
        async with open_http_system("mine", HttpSystem(**{"url": fake.url, **given})) as endpoint:
            return endpoint.identity

    changes = [
        {},
        {"answer": "$.text"},
        {"contexts": "$.c"},
        {"request": {"q": "{question}"}},
        {"headers": {"X": "1"}},
        {"input_tokens": "$.n"},
        {"cost_usd": "$.n"},
        {"url": fake.url + "/2"},
    ]
    assert len({await identity(**given) for given in changes}) == len(changes)
    assert await identity(timeout_s=1, max_concurrency=2) == await identity()
    shown = await identity(url="http://me:word@a.org/", api_key_env="MY_KEY", headers={"X": "{key}"})
    assert "word" not in shown
    assert "secret-key" not in shown


def test_what_the_request_does_not_hold_makes_no_other_call():
    declared = HttpSystem(url="http://a.org")
    other = msgspec.structs.replace(QUESTION, id="q2", tags=None)
    assert http_prompt(declared, QUESTION) == http_prompt(declared, other)
    by_crop = HttpSystem(url="http://a.org", request={"q": "{question}", "c": "{tag.crop}"})
    assert http_prompt(by_crop, QUESTION) != http_prompt(by_crop, other)
    assert http_prompt(declared, QUESTION) != http_prompt(
        HttpSystem(url="http://a.org", version="2"), QUESTION
    )


async def test_a_redirect_is_not_followed_and_its_target_is_told(fake, says):
    fake.script = lambda _asked: Answered(301, headers={"Location": "https://me:word@elsewhere.org/ask"})
    with pytest.raises(ModelError) as failure:
        await ask(fake)
    says(failure.value)
    assert "word" not in str(failure.value)
    assert len(fake.asked) == 1


async def test_a_byte_order_mark_is_no_error(fake):
    fake.script = lambda _asked: Answered(content=b'\xef\xbb\xbf{"answer": "In May."}')
    assert (await ask(fake))[0].answer == "In May."


async def test_a_reply_that_is_nested_beyond_reading_is_unparsable(fake):
    fake.script = lambda _asked: Answered(content=b"[" * 100_000 + b"]" * 100_000)
    with pytest.raises(AppFailed, match="not JSON") as failure:
        await ask(fake)
    assert failure.value.status == "unparsable"


async def test_a_reply_that_breaks_off_is_a_failure_of_the_row_and_tried_again(fake, says):
    fake.script = lambda _asked: Answered(content=b"no gzip", headers={"Content-Encoding": "gzip"})
    with pytest.raises(AppFailed) as failure:
        await ask(fake)
    says(str(failure.value).partition(" (")[0])
    assert failure.value.retryable


async def test_a_password_of_the_address_is_not_shown_in_what_the_application_echoes(fake):
    fake.script = lambda asked: Answered(400, content=(asked.headers["Authorization"] + " p w").encode())
    with pytest.raises(AppFailed, match="Basic") as failure:
        await ask(fake, url=fake.url.replace("//", "//me:p%20w@"))
    assert "bWU6cCB3" not in str(failure.value)  # base64 of me:p w
    assert "p w" not in str(failure.value)


@pytest.mark.parametrize("url", ["localhost/ask/{question}", "http://[::1/ask"])
async def test_what_is_no_address_is_told_before_anything_is_asked(fake, url, says):
    with pytest.raises(ConfigError) as error:
        await ask(fake, url=url)
    says(error.value)


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"X-Id": "{id}"}, "nothing fills {id} in headers"),
        ({"X Id": "1"}, "not a header"),
        ({"X": "a\nb"}, "not a header"),
    ],
)
async def test_headers_that_cannot_be_sent_are_told(fake, headers, told):
    with pytest.raises(ConfigError, match=told):
        await ask(fake, headers=headers)


async def test_a_reply_without_measure_is_not_read_to_its_end(fake, says):
    fake.script = lambda _asked: {"answer": "x" * 10_000_001}
    with pytest.raises(AppFailed) as failure:
        await ask(fake)
    says(failure.value)
    assert failure.value.status == "unparsable"


THREAD = {
    "thread": {"id": "ann", "turns": [{"role": "user", "content": "Hi"}, {"role": "tool", "content": "x"}]}
}


async def test_a_turn_of_a_conversation_is_sent_with_what_was_said_before_it(fake):
    question = msgspec.structs.replace(QUESTION, metadata=THREAD)
    messages = [{"role": "user", "content": "Hi"}, {"role": "user", "content": "When & where?"}]
    await ask(fake, question=question, request={"m": "{messages}", "t": "so: {messages}"})
    assert fake.asked[0].body == {"m": messages, "t": "so: " + msgspec.json.encode(messages).decode()}
    # A question alone is a conversation of one turn, and a column of that name is no conversation.
    other = msgspec.structs.replace(QUESTION, metadata={"thread": "blue"})
    await ask(fake, question=other, request={"m": "{messages}", "id": "{conversation_id}"})
    assert fake.asked[1].body == {"m": messages[1:], "id": None}


async def test_steps_and_the_id_of_the_conversation_are_read_by_path(fake, says):
    fake.script = lambda asked: {
        "answer": "ok",
        "talk": 7,
        "did": [{"action": "look", "arguments": {"k": 1}, "observation": "seen"}],
    }
    for path in ("$.did", "$.did[*]"):
        said, _ = await ask(fake, steps=path, conversation_id="$.talk")
        assert said.steps == [Step(tool="look", arguments={"k": 1}, result="seen")]
        assert said.metadata == {"conversation_id": "7"}
    said, _ = await ask(fake, steps="$.nothing", conversation_id="$.nothing")
    assert (said.steps, said.metadata) == ([], None)
    with pytest.raises(AppFailed) as error:
        await ask(fake, steps="$.talk")
    says(error.value)


@pytest.mark.parametrize("reply", [{"a b": {"c": [{"it's \\ so": "found"}]}}, [[["found"]]], {"é": "found"}])
async def test_the_path_that_a_message_names_finds_the_text(fake, reply):
    fake.script = lambda asked: reply
    with pytest.raises(AppFailed) as failure:
        await ask(fake, answer="$.none")
    path = str(failure.value).rpartition(" is at ")[2]
    assert (await ask(fake, answer=path))[0].answer == "found"


async def test_a_wide_and_deep_reply_makes_no_long_message(fake):
    deep = {"text": "x"}
    for _ in range(200):
        deep = {"inner": deep, **{f"k{at}": "x" for at in range(100)}}
    fake.script = lambda asked: deep
    with pytest.raises(AppFailed) as failure:
        await ask(fake)
    assert len(str(failure.value)) < 1_000
