import asyncio

import msgspec
import pytest
from tests.support.fake_retriever import Answered, serving

from ragstone.kernel.config import HttpTranslator
from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.llm.failures import Unreachable
from ragstone.kernel.translation.services import call, open_http


@pytest.fixture
def fake():
    with serving() as server:
        server.script = lambda asked: {"translatedText": f"<{asked.body['q']}>"}
        yield server


async def ask(fake, said="Who?", source="en", target="es", **given):
    declared = HttpTranslator(**{"url": fake.url, **given})
    async with open_http(declared) as endpoint:
        return msgspec.json.decode((await endpoint.send(call([said], source, target))).text)


async def test_the_text_goes_out_as_the_template_says_and_comes_back_by_path(fake):
    assert await ask(fake) == ["<Who?>"]
    (asked,) = fake.asked
    assert asked.method == "POST"
    assert asked.body == {"q": "Who?", "source": "en", "target": "es"}
    assert "Authorization" not in asked.headers


async def test_the_form_of_deepl(fake, monkeypatch):
    monkeypatch.setenv("DEEPL_KEY", "secret-key")
    fake.script = lambda asked: {"translations": [{"detected_source_language": "EN", "text": "Hola"}]}
    made = await ask(
        fake,
        request={"text": ["{text}"], "source_lang": "{source}", "target_lang": "{target}"},
        text="$.translations[0].text",
        headers={"Authorization": "DeepL-Auth-Key {key}"},
        codes={"en": "EN", "es": "ES"},
        api_key_env="DEEPL_KEY",
    )
    assert made == ["Hola"]
    assert fake.asked[0].body == {"text": ["Who?"], "source_lang": "EN", "target_lang": "ES"}
    assert fake.asked[0].headers["Authorization"] == "DeepL-Auth-Key secret-key"


async def test_the_form_of_azure_a_list_out_and_a_list_back(fake, monkeypatch):
    monkeypatch.setenv("AZURE_KEY", "secret-key")
    fake.script = lambda asked: [{"translations": [{"text": "谁？", "to": "zh-Hans"}]}]
    made = await ask(
        fake,
        target="zh",
        url=f"{fake.url}?api-version=3.0&from={{source}}&to={{target}}",
        request=[{"Text": "{text}"}],
        text="$[0].translations[0].text",
        headers={"Ocp-Apim-Subscription-Key": "{key}"},
        codes={"zh": "zh-Hans"},
        api_key_env="AZURE_KEY",
    )
    assert made == ["谁？"]
    (asked,) = fake.asked
    assert (asked.method, asked.path) == ("POST", "/search?api-version=3.0&from=en&to=zh-Hans")
    assert asked.body == [{"Text": "Who?"}]
    assert asked.headers["Ocp-Apim-Subscription-Key"] == "secret-key"
    assert "Authorization" not in asked.headers


async def test_a_key_stands_in_the_request_or_is_sent_as_bearer(fake, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret-key")
    await ask(fake, request={"q": "{text}", "to": "{target}", "api_key": "{key}"}, api_key_env="MY_KEY")
    assert fake.asked[0].body["api_key"] == "secret-key"
    assert "Authorization" not in fake.asked[0].headers
    await ask(fake, api_key_env="MY_KEY")
    assert fake.asked[1].headers["Authorization"] == "Bearer secret-key"


async def test_a_key_with_a_line_break_is_told_and_not_shown(fake, monkeypatch, says):
    monkeypatch.setenv("MY_KEY", "secret\nkey")
    with pytest.raises(ModelError) as failure:
        await ask(fake, api_key_env="MY_KEY")
    says(failure.value)
    assert "secret" not in str(failure.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"request": {"q": "{text}", "to": "{targt}"}}, r"nothing fills \{targt\}. Did you mean 'target'"),
        ({"request": {"to": "{target}"}}, r"put \{text\} into `request`"),
        ({"request": {"q": "{text}"}}, r"put \{target\} into `request`"),
    ],
)
async def test_a_template_that_cannot_be_is_told(fake, given, message):
    with pytest.raises(ConfigError, match=message):
        await ask(fake, **given)


@pytest.mark.parametrize(
    ("answer", "status", "message"),
    [
        ({"data": "Hola"}, "unparsable", "no text at `text`; it is an object with the keys data"),
        ({"translatedText": "  "}, "unparsable", "no text at `text`"),
        ({"translatedText": 7}, "unparsable", "no text at `text`"),
        (Answered(400, b'{"error": "en-xx is not supported"}'), "error", "en-xx is not supported"),
        (Answered(456, b'{"message": "Quota exceeded"}'), "error", "HTTP 456"),
    ],
)
async def test_a_reply_without_a_translation_fails_its_row(fake, answer, status, message):
    fake.script = lambda asked: answer
    with pytest.raises(CallFailed, match=message) as failure:
        await ask(fake)
    assert failure.value.status == status


@pytest.mark.parametrize(("code", "message"), [(404, "HTTP 404: lost. Check url"), (403, "refused the key")])
async def test_a_wrong_address_or_key_ends_everything_without_showing_the_key(
    fake, monkeypatch, code, message
):
    monkeypatch.setenv("MY_KEY", "secret-key")
    fake.script = lambda asked: Answered(code, b"lost secret-key" if code == 403 else b"lost")
    with pytest.raises(ModelError, match=message) as failure:
        await ask(fake, api_key_env="MY_KEY")
    assert "secret-key" not in str(failure.value)


async def test_nobody_there_is_told_without_password_or_key(fake, monkeypatch, says):
    monkeypatch.setenv("MY_KEY", "secret-key")
    url = "http://me:word@127.0.0.1:9/t?q={text}&to={target}&k={key}"
    with pytest.raises(Unreachable) as failure:
        await ask(fake, url=url, request={}, api_key_env="MY_KEY")
    says(failure.value)
    assert "word" not in str(failure.value)
    assert "secret-key" not in str(failure.value)


async def test_another_request_is_another_translator_to_the_ledger(fake):
    async def identity(**given):
        async with open_http(HttpTranslator(**{"url": "http://me:word@a.org/t", **given})) as endpoint:
            return endpoint.identity

    first, same, other = await asyncio.gather(identity(), identity(), identity(codes={"en": "EN"}))
    assert first == same != other
    assert first.startswith("http/http://a.org/t#")
