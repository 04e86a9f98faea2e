"""personas.toml: what it may hold, and what is said of each mistake."""

import pytest

from ragstone.features.simulate._persona import KnownFact, load_personas
from ragstone.kernel.errors import ConfigError

GOOD = """[[personas]]
name = "ann"
goal = "Know when to sow"
script = ["Hello"]

"""
BEN = (
    GOOD + '[[personas]]\nname = "ben"\ngoal = "Know the price"\n'
)  # its lines are 6 to 8, the next one is 9


def written(folder, text):
    path = folder / "personas.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_fact_is_a_text_or_has_phrases_by_which_it_is_asked_for(tmp_path):
    text = GOOD + '[personas.facts]\ntown = "Nakuru"\ncrop = { value = "maize", asked = ["which plant"] }\n'
    (ann,) = load_personas(written(tmp_path, text))
    assert ann.facts == {
        "town": KnownFact(value="Nakuru"),
        "crop": KnownFact(value="maize", asked=["which plant"]),
    }
    assert (ann.patience, ann.goal_met) == (8, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no user. Write a table [[personas]]"),
        ("persona = 1", "unknown key 'persona'. Did you mean 'personas'?"),
        ("personas = [3]", "personas is 3: write a table"),
        ('[[personas]]\nname = "ann"', ":1: the key 'goal' is missing"),
        (BEN + 'scrpt = ["x"]', ":9: unknown key 'scrpt'. Did you mean 'script'?"),
        (BEN + "patience = 0", ":9: Expected `int` >= 1 (key 'patience')"),
        (BEN + 'script = "Hi"', ":9: Expected `array | null`, got `str` (key 'script')"),
        (BEN + 'script = ["Hi", " "]', ":9: Expected `str` that says something"),
        (BEN + "script = []", "the persona 'ben': its script is empty"),
        (GOOD + GOOD, "2 personas are named 'ann'"),
        (BEN + 'goal_met = { contains = "x" }', ":9: unknown key 'contains'. Did you mean 'contains_any'"),
        (BEN + 'goal_met = { regex = "(" }', "the persona 'ben': '(' is not a regular expression"),
        (BEN + "goal_met = {}", "the persona 'ben': goal_met says nothing. Give one of: contains_all"),
        (BEN + 'goal_met = { called = [{ name = "x" }] }', ":9: unknown key 'name'. Known: arguments, tool"),
        (BEN + '[personas.facts]\ntown = { valu = "N" }', ":10: unknown key 'valu'. Did you mean 'value'?"),
        (BEN + "[personas.facts]\ntown = 3", ":10: Expected a table, got `int` (key 'facts.town')"),
        (GOOD.replace("ann", "ann~2"), ":2: Expected `str` of one line, without # and ~ (key 'name')"),
        ("[[personas]\n", "not valid TOML"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path, text, message):
    with pytest.raises(ConfigError) as mistake:
        load_personas(written(tmp_path, text))
    assert message in str(mistake.value)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        load_personas(tmp_path / "personas.toml")
