from pathlib import Path

import msgspec
import pytest
from tests.support.golden import check_prompt

from ragstone.features.build._styles import load_style, parse_style, render_style, style_names, turns_of
from ragstone.features.build._writing import write_prompt
from ragstone.kernel.config import BuildSection
from ragstone.kernel.config.datasets import LEVELS
from ragstone.kernel.dataset.candidate import SourcePassage
from ragstone.kernel.errors import ConfigError

DECLARED = BuildSection(personas=["a farmer", "an agronomist"], levels=["apply"])
PASSAGE = SourcePassage(
    document_id="d", start=0, end=27, text="Maize is sown in late April.", title="Maize > Sowing", lang="en"
)
OWN = """
name    = "own"
version = 1
needs   = "nothing"
source  = "own wording"
prompt  = "Questions about dates."
"""


@pytest.mark.parametrize("name", style_names())
def test_a_style_reads_as_it_did(name):
    style = load_style(name)
    passages = (PASSAGE, PASSAGE) if style.needs == "two_passages" else (PASSAGE,)
    prompt = write_prompt(passages, turns_of(style, DECLARED)[0], 3, audience="farmers", secret=b"s")
    check_prompt(f"write_{name}", prompt.messages)


def test_styles_that_ship_are_those_of_the_documentation():
    assert style_names() == [
        "bloom",
        "comparison",
        "factoid",
        "multi_fact",
        "multi_hop",
        "persona",
        "procedural",
    ]


def test_an_unknown_style_is_told_the_nearest(says):
    with pytest.raises(ConfigError) as error:
        load_style("factoids")
    says(error.value)


def test_a_style_of_ones_own_is_a_file(tmp_path, says):
    file = tmp_path / "own.toml"
    file.write_text(OWN)
    assert load_style(file).prompt == load_style(str(file)).prompt == "Questions about dates."
    with pytest.raises(ConfigError) as error:
        load_style(tmp_path / "other.toml")
    says(error.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("source ", "sauce "), "own.toml:5: unknown key 'sauce'. Did you mean 'source'"),
        (('"nothing"', '"two_passages"'), "a style that needs two passages has quotes = 2"),
        (('"nothing"', '"persona"'), 'a style has needs = "persona" if its prompt names {persona}'),
        (("about dates", "by {persona}"), 'a style has needs = "persona" if its prompt names {persona}'),
        (("about dates", "on {topic}"), "the prompt names {topic}. It may name {audience}"),
        (('"nothing"', '"thing"'), "unknown needs 'thing'"),
        (
            ('dates."', 'dates."\nlevels = {apply = "use it"}'),
            'a style has a table [levels] if it has needs = "level"',
        ),
    ],
)
def test_mistakes_in_a_style_are_told_with_what_to_change(change, told):
    with pytest.raises(ConfigError) as mistake:
        parse_style(OWN.replace(*change), Path("own.toml"))
    assert told in str(mistake.value)


def test_levels_of_a_style_are_those_of_bloom(says):
    leveled = OWN.replace('"nothing"', '"level"').replace("about dates", "to {level}")
    with pytest.raises(ConfigError) as error:
        parse_style(leveled + '[levels]\naply = "use"', Path("own.toml"))
    says(error.value)
    with pytest.raises(ConfigError) as error:
        parse_style(leveled + '[levels]\napply = "use"', Path("own.toml"))
    says(error.value)


def test_a_persona_style_has_a_turn_for_each_persona():
    turns = turns_of(load_style("persona"), DECLARED)
    assert [turn.persona for turn in turns] == ["a farmer", "an agronomist"]
    assert "a farmer" in render_style(turns[0], "all")


def test_a_persona_style_without_personas_says_what_to_write(says):
    with pytest.raises(ConfigError) as error:
        turns_of(load_style("persona"), BuildSection())
    says(error.value)


def test_bloom_has_a_turn_for_each_level_that_is_wanted_and_all_six_without():
    bloom = load_style("bloom")
    assert [turn.level for turn in turns_of(bloom, DECLARED)] == ["apply"]
    assert [turn.level for turn in turns_of(bloom, BuildSection())] == list(LEVELS)
    rendered = {render_style(turn, "all") for turn in turns_of(bloom, BuildSection())}
    assert len(rendered) == 6


def test_other_styles_have_one_turn():
    (turn,) = turns_of(load_style("factoid"), DECLARED)
    assert (turn.persona, turn.level) == (None, None)


def test_the_users_words_are_not_taken_for_places_to_fill(says):
    style = msgspec.structs.replace(load_style("persona"), prompt="For {audience}, by {persona}.")
    turn = turns_of(style, BuildSection(personas=["one of {audience}"]))[0]
    says(render_style(turn, "farmers {persona}"))
