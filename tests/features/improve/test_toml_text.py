"""A value of a TOML text is changed, and nothing else of the text."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.golden import sentence_in

from ragstone.features.improve._toml_text import entries_of, place_on, with_value
from ragstone.kernel.config import library_names, read_named, shipped
from ragstone.kernel.errors import ConfigError

FILE = Path("judge.toml")
LIBRARY = library_names("ragstone.kernel.judging", "library")
STARTERS = [
    file.read_text("utf-8")
    for file in shipped("ragstone.features.judges", "starter_files").iterdir()
    if file.name.endswith(".toml")
]
TEXTS = [read_named(name, "judge", "ragstone.kernel.judging", "library")[0] for name in LIBRARY] + STARTERS
ODD = """# first
name    = "odd" # its name
'quoted key' = 'C:\\x' # a literal
dotted . inner = 1_000
when = 2026-11-27T04:12:18Z
list = [ # in it
  "a, ]", # one
  [1, 2], { b = "}" },
]
prompt  = \"\"\"
Is "" {answer} \\
  right? # no comment
\"\"\"\"
later = '''
[[criteria]]
name = "no table"'''

[labels] # what they mean
good = 1 # the best
"not so" = 0.5

[[criteria]]
name = "a" # first
weight = 1

# of the second
[[criteria]]
name = "b"
inline = { x = 1, y = [1] }
  [criteria.more]
  z = 1
"""
PLACES = {
    ("name",): "even",
    ("dotted", "inner"): 7,
    ("list",): ["b"],
    ("prompt",): 'Two\nlines with """ and \\ and {answer}',
    ("later",): None,
    ("new",): [0, 0.5],
    ("labels", "not so"): 0.25,
    ("labels", "worse"): -1,
    ("labels", "good"): None,
    ("criteria", 1, "name"): "c",
    ("criteria", 1, "weight"): 2,
    ("criteria", 0, "weight"): None,
    ("criteria", 1, "inline", "x"): 3,
    ("criteria", 0): None,
    ("criteria", 1): None,
    ("criteria", 2): {"name": "third", "grades": ["bad", "good"]},
    ("prompts", "brief"): "Short.",
}


def _set(values: dict, place: tuple, value: object) -> dict:
    *way, last = place
    inner = values
    for step in way:
        inner = inner.setdefault(step, {}) if isinstance(inner, dict) else inner[step]
    if isinstance(inner, list):
        inner[last : last + 1] = [] if value is None else [value]
    elif value is None:
        inner.pop(last)
    else:
        inner[last] = value
    return values


@pytest.mark.parametrize("place", PLACES)
def test_a_value_is_set_and_everything_else_stays(place):
    value = PLACES[place]
    changed = with_value(ODD, place, value, FILE)
    assert tomllib.loads(changed) == _set(tomllib.loads(ODD), place, value)
    kept = [line for line in ODD.splitlines() if "#" in line and line in changed.splitlines()]
    assert len(kept) >= sum("#" in line for line in ODD.splitlines()) - 3  # of the value that was changed


def test_a_comment_behind_a_value_stays_where_it_is(says):
    says(sentence_in(with_value(ODD, ("name",), "x", FILE), 'name    = "x"'))
    left = with_value(ODD, ("criteria", 0), None, FILE)
    says(left[left.index("# of the") :])
    assert with_value(ODD, ("name",), "odd", FILE) == ODD


def test_a_change_that_has_no_place_is_refused():
    with pytest.raises(ConfigError, match="there is no"):
        with_value(ODD, ("criteria", 9, "name"), "x", FILE)
    with pytest.raises(ConfigError, match="there is no"):
        with_value(ODD, ("criteria", 4), {"name": "x"}, FILE)


def test_a_line_is_known_by_what_it_sets():
    lines = ODD.splitlines()
    for line, place in (('  "a, ]", # one', ("list",)), ('name = "b"', ("criteria", 1, "name"))):
        assert place_on(ODD, lines.index(line) + 1) == place
    assert place_on(ODD, 1) is None


@pytest.mark.parametrize("text", TEXTS)
def test_every_value_of_every_judge_that_ships_is_found(text):
    entries, _ = entries_of(text)
    values = tomllib.loads(text)
    for entry in entries:
        inner = values
        for step in entry.place:
            inner = inner[step]
        assert tomllib.loads(f"x = {text[entry.start : entry.end]}")["x"] == inner
    assert {entry.place[0] for entry in entries} == values.keys()


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=40)
KEYS = ("name", "version", "source", "prompt", "scale", "inputs", "description", "max_tokens", "unheard_of")
VALUES = st.one_of(
    WORDS, st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), st.booleans()
)


@given(
    st.sampled_from(TEXTS),
    st.lists(st.tuples(st.sampled_from(KEYS), st.one_of(VALUES, st.lists(VALUES, max_size=3))), max_size=4),
    st.lists(st.text(st.characters(min_codepoint=32, codec="utf-8"), max_size=20), max_size=3),
)
def test_any_changes_of_any_judge_read_back_as_they_were_made_and_keep_comments(text, changes, comments):
    for comment in comments:  # a comment above each key and each table
        safe = "".join(letter for letter in comment if letter.isprintable())
        entries, headers = entries_of(text)
        for at in sorted({place.begin for place in (*entries, *headers)}, reverse=True):
            text = f"{text[:at]}# {safe}\n{text[at:]}"
    wanted = tomllib.loads(text)
    above = _comments(text)
    for key, value in changes:
        text = with_value(text, (key,), value, FILE)
        wanted[key] = value
    assert tomllib.loads(text) == wanted
    assert _comments(text) == above


def _comments(text: str) -> list[str]:
    """Return the comments between the keys of a text, and behind their values."""
    entries, headers = entries_of(text)
    inside = [(entry.begin, entry.end) for entry in entries] + [(each.begin, each.begin) for each in headers]
    outside, at = "", 0
    for begin, end in sorted(inside):
        outside, at = outside + text[at:begin] + "\n", end
    return [line.strip() for line in (outside + text[at:]).splitlines() if line.strip().startswith("#")]
