"""The chat page as it is sent: its languages, its texts, and what it may ask for."""

import re
from html import unescape
from html.parser import HTMLParser

import msgspec
import pytest
from tests.support.farm import FARM

from ragstone_assistant.page.page import POLICY, Texts, assets, chat_page, language_wanted, texts

LANGUAGES = ["en", "ar", "es", "fr", "hi", "sw"]


class Parsed(HTMLParser):
    """The page's elements, and the texts' JSON."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.json = ""
        self.feed(page.decode())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.elements and self.elements[-1][1].get("id") == "texts":
            self.json += data


def test_there_are_six_languages_english_first():
    assert list(texts(FARM)) == LANGUAGES


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_text_has_the_places_that_the_english_one_has(lang):
    for name, english in msgspec.structs.asdict(texts(FARM)["en"]).items():
        own = getattr(texts(FARM)[lang], name)
        assert re.findall(r"\{\w+\}", str(own)) == re.findall(r"\{\w+\}", str(english)), name
        assert own, name


def test_no_language_has_the_english_words_but_for_names():
    same = {
        (lang, name)
        for lang in LANGUAGES[1:]
        for name, text in msgspec.structs.asdict(texts(FARM)[lang]).items()
        if text == getattr(texts(FARM)["en"], name) and name != "direction"
    }
    assert same == {("fr", "assistant"), ("fr", "page"), ("fr", "sources")}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_page_is_in_its_language_and_direction(lang):
    html = Parsed(chat_page(FARM, lang)).elements[0]
    assert html == ("html", {"lang": lang, "dir": "rtl" if lang == "ar" else "ltr"})


def test_an_unknown_language_gets_the_english_page():
    assert chat_page(FARM, "xx") == chat_page(FARM, "en")


def test_the_page_carries_the_texts_of_all_languages():
    found = msgspec.json.decode(Parsed(chat_page(FARM, "hi")).json, type=dict[str, Texts])
    assert found == texts(FARM)


def test_the_page_asks_for_nothing_but_its_own_style_and_script():
    page = chat_page(FARM)
    asked = re.findall(rb'(?:src|href)="([^"]+)"', page)
    version = asked[1].partition(b"?")[2]
    assert asked == [b"data:,", b"assets/chat.css?" + version, b"assets/chat.js?" + version]
    everything = page + b"".join(each.content for each in assets().values())
    assert not re.search(rb"https?://[a-z]", everything)
    assert b"style=" not in page  # the policy forbids it
    assert "'unsafe" not in POLICY


def test_the_page_of_an_assistant_without_a_model_says_that_it_quotes():
    told = {lang: each.quoting for lang, each in texts(FARM).items()}
    for lang, text in told.items():
        pages = (chat_page(FARM, lang, quotes=True), chat_page(FARM, lang))
        assert [unescape(page.decode()).count(f">{text}<") for page in pages] == [1, 0], lang


def test_the_script_never_sets_html():
    assert not re.search(
        rb"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", assets()["chat.js"].content
    )


def test_every_text_that_the_script_asks_for_exists():
    asked = set(re.findall(rb"\bt\(\"(\w+)\"\)", assets()["chat.js"].content))
    named = set(re.findall(rb'data-text="(\w+)"', chat_page(FARM)))
    assert asked
    assert {name.decode() for name in asked | named} <= set(Texts.__struct_fields__)


@pytest.mark.parametrize(
    ("header", "lang"),
    [
        ("", "en"),
        ("hi-IN,hi;q=0.9,en;q=0.8", "hi"),
        ("de-DE,de;q=0.9,fr;q=0.7,en;q=0.3", "fr"),
        ("en;q=0.2, sw;q=0.8", "sw"),
        ("AR", "ar"),
        ("*, es;q=broken", "en"),
    ],
)
def test_the_browser_s_best_liked_language_of_ours_is_taken(header, lang):
    assert language_wanted(header) == lang
