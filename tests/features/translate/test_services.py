import asyncio
import shutil
import subprocess

import msgspec
import pytest
from tests.support.fake_retriever import Answered, serving

from ragstone.features.translate import services as apertium_module
from ragstone.features.translate.services import call, check_pairs, find_mode, open_apertium, open_http
from ragstone.kernel.config import HttpTranslator
from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.llm.transport import Unreachable


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


async def test_a_key_with_a_line_break_is_told_and_not_shown(fake, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret\nkey")
    with pytest.raises(
        ModelError, match="Write the key alone into the environment variable MY_KEY"
    ) as failure:
        await ask(fake, api_key_env="MY_KEY")
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


async def test_nobody_there_is_told_without_password_or_key(fake, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret-key")
    url = "http://me:word@127.0.0.1:9/t?q={text}&to={target}&k={key}"
    with pytest.raises(Unreachable, match=r"cannot be reached .* and is url right") as failure:
        await ask(fake, url=url, request={}, api_key_env="MY_KEY")
    assert "word" not in str(failure.value)
    assert "secret-key" not in str(failure.value)


async def test_another_request_is_another_translator_to_the_ledger(fake):
    async def identity(**given):
        async with open_http(HttpTranslator(**{"url": "http://me:word@a.org/t", **given})) as endpoint:
            return endpoint.identity

    first, same, other = await asyncio.gather(identity(), identity(), identity(codes={"en": "EN"}))
    assert first == same != other
    assert first.startswith("http/http://a.org/t#")


MODES = frozenset({"eng-spa", "spa-eng", "spa-cat", "eu-es", "hbs_HR-eng"})


@pytest.fixture
def modes(monkeypatch):
    monkeypatch.setattr(apertium_module, "_modes", lambda: MODES)


@pytest.fixture
def real():
    """Skip where the program or its English-Spanish pair is not installed."""
    if shutil.which("apertium") is None:
        pytest.skip("the program apertium is not installed (apt-get install apertium apertium-eng-spa)")
    listed = subprocess.run(["apertium", "-l"], capture_output=True, text=True, check=True).stdout.split()
    if not {"eng-spa", "spa-eng"} <= set(listed):
        pytest.skip("apertium lacks its pair eng-spa (apt-get install apertium-eng-spa)")


async def translated(*texts, source="en", target="es"):
    async with open_apertium() as endpoint:
        completion = await endpoint.send(call(texts, source, target))
        return apertium_module.msgspec.json.decode(completion.text)


def test_a_pair_is_found_by_codes_of_two_letters_and_of_three():
    assert find_mode("en", "es", MODES) == "eng-spa"
    assert find_mode("eng", "spa", MODES) == "eng-spa"
    assert find_mode("en-GB", "es_MX", MODES) == "eng-spa"
    assert find_mode("eu", "es", MODES) == "eu-es"
    assert find_mode("hr", "en", MODES) == "hbs_HR-eng"
    assert find_mode("es", "eu", MODES) is None


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("fr", "ca"), "no pair fr -> ca here. Install it with: apt-get install apertium-fra-cat"),
        (("ca", "fr"), "apt-get install apertium-fra-cat"),
        (("en", "hi"), "Debian has none either: translate with a model"),
        (("es", "eu"), "It has eu -> es alone"),
    ],
)
def test_a_pair_that_is_missing_says_what_to_install(modes, pair, message):
    with pytest.raises(ModelError, match=message):
        check_pairs([("en", "es"), pair])


def test_without_the_program_its_package_is_named(monkeypatch):
    apertium_module._modes.cache_clear()
    monkeypatch.setattr(apertium_module.shutil, "which", lambda _name: None)
    with pytest.raises(ModelError, match="apt-get install apertium"):
        check_pairs([("en", "es")])
    apertium_module._modes.cache_clear()


@pytest.mark.server
async def test_texts_of_a_row_are_translated_and_what_is_kept_stays(real):
    texts = [
        "The wheat of 2019 is good.",
        "",
        "Use `sow(x)` and {name}, see https://a.org/b?c=1.",
        "two\nlines",
    ]
    first, blank, kept, lines = await translated(*texts)
    assert first.startswith("El trigo de 2019 es ")
    assert blank == ""
    assert {"`sow(x)`", "{name},", "https://a.org/b?c=1."} <= set(kept.split())
    assert lines.count("\n") == 1


@pytest.mark.server
async def test_signs_of_its_own_format_are_only_text(real):
    (text,) = await translated("The ^wheat/wheat<n>$ [of] \\ the @village ␞ \0 {here}")
    assert "trigo" in text


@pytest.mark.server
async def test_many_at_once_are_the_same_as_one_by_one(real):
    texts = ["How many farmers sow wheat?", "What is the price of maize?", "Who found the old house?"]
    alone = [await translated(text) for text in texts]
    assert await asyncio.gather(*map(translated, texts)) == alone


@pytest.mark.server
async def test_a_process_that_hangs_is_ended(real, monkeypatch):
    monkeypatch.setattr(apertium_module, "TIMEOUT_S", 0.001)
    with pytest.raises(CallFailed, match=r"took more than 0\.001 s") as failure:
        await translated("The wheat is good.")
    assert failure.value.status == "timeout"
