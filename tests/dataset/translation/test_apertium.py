import asyncio
import shutil
import subprocess

import pytest

from ragstone.dataset.translation import apertium as apertium_module
from ragstone.dataset.translation.apertium import check_pairs, find_mode, open_apertium
from ragstone.dataset.translation.service import call
from ragstone.errors import ModelError
from ragstone.llm import CallFailed

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
