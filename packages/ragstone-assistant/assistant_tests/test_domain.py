"""What makes an assistant one of a domain, read from ragstone.toml and a folder of texts."""

from pathlib import Path

import pytest
from tests.support.farm import FARM

from ragstone.kernel.config import AssistantSection
from ragstone.kernel.errors import ConfigError
from ragstone_assistant._domain import Domain, load_domain
from ragstone_assistant.languages import LANGUAGES, phrase
from ragstone_assistant.page.page import texts

SECTION = AssistantSection(
    title="Help for pilots", scope="the X200 drone", examples=["How long does it fly?"]
)


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text)
    return folder


def test_a_bare_assistant_is_about_its_documents_and_asks_for_a_place_alone() -> None:
    bare = load_domain(AssistantSection(), None)
    assert (bare.has_scope, bare.askable, bare.scope("en")) == (
        False,
        ("place",),
        "the subjects of my documents",
    )
    assert not bare.sensitive.mentioned("Spray glyphosate")
    assert texts(bare)["en"].title == "Assistant"


def test_the_settings_hold_in_every_language_where_the_folder_says_nothing(tmp_path: Path) -> None:
    domain = load_domain(SECTION, written(tmp_path, es='title = "Ayuda para pilotos"'))
    assert [texts(domain)[lang].title for lang in ("en", "es", "sw")] == [
        "Help for pilots",
        "Ayuda para pilotos",
        "Help for pilots",
    ]
    assert (domain.scope("es"), texts(domain)["es"].examples) == ("the X200 drone", ["How long does it fly?"])


def test_a_domain_asks_for_its_own_slots_by_its_own_words(tmp_path: Path) -> None:
    planner = '[slots.model]\nmissing = [["pointing"]]\n'
    english = '[ask]\nmodel = "Which drone do you have?"\n[words]\npointing = "my drone"\n'
    domain = load_domain(AssistantSection(), written(tmp_path, planner=planner, en=english))
    assert domain.askable == ("model",)
    assert domain.ask("model", "es") == "Which drone do you have?"
    assert domain.speaks_of("My drone does not fly", "en", "pointing") == "my drone"
    assert domain.speaks_of("My drone does not fly", "es", "pointing") is None


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"en": 'titel = "x"'}, "en.toml:1: unknown key 'titel'. Did you mean 'title'"),
        ({"eng": ""}, "eng.toml: not one of the files of texts. Did you mean 'en.toml'"),
        ({"planner": 'likely = ["plant"]', "en": '[words]\nplants = "x"'}, "Did you mean 'plants'"),
        ({"en": '[ask]\nplaze = "Where?"'}, "Did you mean 'place'?"),
        ({"sensitive": "[caution]\n[refusal]\n"}, "[caution] has no `en`"),
        ({"scope": "inside = 1"}, "scope.toml:1"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_the_fix(tmp_path: Path, files: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_domain(AssistantSection(), written(tmp_path, **files))
    assert named in str(caught.value)


def test_a_folder_that_is_not_there_is_told_with_its_key(tmp_path: Path, says) -> None:
    with pytest.raises(ConfigError) as error:
        load_domain(AssistantSection(), tmp_path / "nowhere")
    says(error.value)


def test_the_farm_has_all_of_its_texts_in_every_language() -> None:
    english = FARM.texts["en"]
    for lang in LANGUAGES:
        own = FARM.texts[lang]
        assert all((own.title, own.welcome, own.examples, own.notice, own.scope, own.searches)), lang
        for table in ("tags", "ask", "words"):
            assert getattr(own, table).keys() == getattr(english, table).keys(), (lang, table)
        assert {FARM.sensitive.caution(lang), FARM.sensitive.refusal(lang)} != {""}
    assert len({texts.title for texts in FARM.texts.values()}) == len(LANGUAGES)
    assert isinstance(FARM, Domain)


AUDIENCES = Path(__file__).parents[3] / "examples" / "assistant" / "texts"


@pytest.mark.parametrize("name", ["farmer", "extension", "engineer"])
def test_the_farm_speaks_to_each_audience_and_says_the_rest_as_before(name: str) -> None:
    domain = load_domain(AssistantSection(audience=name), AUDIENCES)
    assert domain.audience.tone.startswith("The reader is ")
    for lang in ("en", "es", "fr", "sw"):
        assert texts(domain)[lang].welcome == domain.audience.texts[lang].welcome != FARM.texts[lang].welcome
        assert domain.audience.texts[lang].refusal
    assert texts(domain)["hi"].welcome == FARM.texts["hi"].welcome
    assert domain.say("thanks", "en") == FARM.say("thanks", "en") == phrase("thanks", "en")
    assert domain.say("declined", "de") == FARM.say("declined", "de")
    assert ("neighbour" in texts(domain)["en"].welcome) == (name == "farmer")
    assert domain.say("greeting", "en").startswith("Hello! Ask me about farming") == (name == "farmer")


@pytest.mark.parametrize(
    ("text", "audience", "named"),
    [
        ("", "pilots", "pilots.toml: no such audience. Did you mean 'pilot'"),
        ("ton = 1", "pilot", "pilot.toml:1: unknown key 'ton'. Did you mean 'tone'"),
        ('[texts.xx]\nrefusal = "I do not know."', "pilot", "[texts.xx] is not a language of the assistant"),
        ('[texts.en]\nrefusal = "It flies 20 minutes."', "pilot", "does not read as one"),
    ],
)
def test_a_mistake_in_an_audience_is_told_with_the_fix(
    tmp_path: Path, text: str, audience: str, named: str
) -> None:
    (tmp_path / "audiences").mkdir()
    written(tmp_path / "audiences", pilot=text)
    with pytest.raises(ConfigError) as caught:
        load_domain(AssistantSection(audience=audience), tmp_path)
    assert named in str(caught.value)


def test_a_refusal_in_a_language_that_it_does_not_speak_is_not_judged(tmp_path: Path) -> None:
    both = 'caution.en = "Take care."\nrefusal = { en = "I do not know.", yo = "Emi ko mo." }\n'
    (tmp_path / "sensitive.toml").write_text(both, encoding="utf-8")
    assert load_domain(AssistantSection(), tmp_path).sensitive.refusal("en") == "I do not know."
    (tmp_path / "sensitive.toml").write_text(both.replace("I do not know.", "It flies 20 minutes."))
    with pytest.raises(ConfigError, match="the refusal in 'en' does not read as one"):
        load_domain(AssistantSection(), tmp_path)


def test_an_audience_without_a_folder_of_texts_is_told() -> None:
    with pytest.raises(ConfigError, match="Add texts, or delete audience"):
        load_domain(AssistantSection(audience="farmer"), None)
