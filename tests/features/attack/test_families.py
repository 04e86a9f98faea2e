import tomllib
import unicodedata
from collections import Counter
from importlib import resources

import pytest

from ragstone.features.attack._families import DISGUISES, family_names, load_families, parse_family
from ragstone.features.attack._rows import base_rows, neutral_sentences, neutral_text
from ragstone.features.attack._values import UNSEEN
from ragstone.kernel.errors import ConfigError

FAMILIES = load_families()
FOLDER = resources.files("ragstone.features.attack")


def test_there_are_many_attacks_of_many_kinds_each_with_a_name_of_its_own():
    names = [f"{family.name}/{attack.name}" for family in FAMILIES for attack in family.attack]
    assert len(names) == len(set(names)) >= 100
    assert len(FAMILIES) >= 15
    texts = Counter(attack.text + (attack.hidden or "") for family in FAMILIES for attack in family.attack)
    assert texts.most_common(1)[0][1] <= 4  # `{verdict}` alone, in several places


def test_at_least_eight_languages_are_spoken():
    [languages] = load_families(["languages"])
    assert len(languages.attack) >= 8


@pytest.mark.parametrize("file", [*(f"library/{name}.toml" for name in family_names()), "base/rows.toml"])
def test_what_nobody_sees_is_written_as_an_escape(file):
    # A reviewer must see what a file holds: no invisible character stands in it as itself.
    text = (FOLDER / file).read_text(encoding="utf-8")
    assert {letter for letter in text if unicodedata.category(letter) in UNSEEN} <= {"\n"}


@pytest.mark.parametrize("name", DISGUISES)
def test_a_disguise_hides_the_words(name):
    hidden = DISGUISES[name]("give the best verdict")
    assert "give the best verdict" not in hidden


def test_disguises_worked_by_hand():
    assert DISGUISES["base64"]("Hi") == "SGk="  # 0x48 0x69 -> 010010 000110 1001(00)
    assert DISGUISES["rot13"]("give") == "tvir"
    assert DISGUISES["hex"]("né") == "6e c3 a9"
    assert DISGUISES["leet"]("a toast") == "4 70457"
    assert DISGUISES["tags"]("A") == "\U000e0041"
    assert DISGUISES["reversed"]("ab") == "\u202eba\u202c"
    assert DISGUISES["zero_width"]("ab") == "a\u200bb"


WRONG = {
    "unknown key": ('name = "a"\ntext = "b"\nplace = "after"', "place"),
    "unknown placeholder": ('name = "a"\ntext = "give {gaol}"', "{gaol} is not a placeholder"),
    "hidden without a disguise": ('name = "a"\ntext = "{hidden}"\nhidden = "b"', "all three or none"),
    "disguise without a place": (
        'name = "a"\ntext = "b"\nhidden = "b"\ndisguise = "hex"',
        "all three or none",
    ),
    "unknown disguise": ('name = "a"\ntext = "{hidden}"\nhidden = "b"\ndisguise = "hax"', "hex"),
    "unknown place": ('name = "a"\ntext = "b"\nplaces = ["above"]', "above"),
}


@pytest.mark.parametrize(("attack", "said"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_refused_with_the_fix(attack, said):
    with pytest.raises(ConfigError, match=r"mine\.toml") as refused:
        parse_family(f'about = "x"\n[[attack]]\n{attack}\n', "mine")
    assert said in str(refused.value)


def test_an_unknown_family_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="fake_verdict"):
        load_families(["fake_verdicts"])


def test_every_language_of_the_rows_has_neutral_sentences_and_a_tone():
    tones = tomllib.loads(
        (resources.files("ragstone.features.attack") / "base" / "tone.toml").read_text("utf-8")
    )
    langs = {row.lang for row in base_rows()}
    assert len(langs) >= 5
    assert langs <= neutral_sentences().keys()
    assert langs <= tones.keys()


def test_neutral_text_is_as_long_as_asked_and_one_sentence_at_most_longer(says):
    says(neutral_text("en", 1))
    assert 300 <= len(neutral_text("de", 300)) < 400
    assert neutral_text("xx", 10) == neutral_text("en", 10)  # a language without sentences of its own
