"""personas.toml -> the users who are simulated: what each wants, knows and says."""

import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import msgspec

from ragstone.kernel.config import Positive, Section, convert_section, parse_toml, read_settings_text
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.judging.assertion import problem_of

TABLE = "personas"
PATIENCE = 8  # turns of a user of whom the file does not say it
_HEADER = re.compile(rf"\s*\[\[\s*{TABLE}\s*\]\]")

Text = Annotated[str, msgspec.Meta(pattern=r"\S")]
Name = Annotated[str, msgspec.Meta(pattern=r"^[^#~\n]+$")]  # ids are NAME~SAMPLE, and NAME#TURN of a turn
_PATTERNS = {
    r"matching regex '\\S'": "that says something",
    r"matching regex '^[^#~\\n]+$'": "of one line, without # and ~",
}


class KnownFact(Section, frozen=True, kw_only=True):
    """What a user knows. asked: phrases by which an assistant asks for it, beside the fact's name."""

    value: Text
    asked: list[Text] = []


class WantedCall(Section, frozen=True, kw_only=True):
    """A call of a tool; arguments: those that it must have, with these values."""

    tool: Text
    arguments: dict[str, Any] = {}


class WantedEnd(Section, frozen=True, kw_only=True):
    """What must hold for the goal to be met, all of it.

    contains_all, contains_any, regex: of all that the assistant said. no_refusal: its last reply is none.
    called: tools that it has called without an error.
    """

    contains_all: list[Text] = []
    contains_any: list[Text] = []
    regex: str | None = None
    no_refusal: bool = False
    called: list[WantedCall] = []


class Persona(Section, frozen=True, kw_only=True):
    """A simulated user.

    goal: what the user wants to know or get done. facts: what the user knows, and says when asked. style: how
    the user writes, for a model. script: turns that are said in order; without one a model speaks. goal_met:
    how the goal is known to be met; without it a model that speaks says so. patience: the most turns of the
    user. language: ISO 639-1.
    """

    name: Name
    goal: Text
    facts: dict[str, KnownFact] = {}
    style: str = ""
    script: list[Text] | None = None
    goal_met: WantedEnd | None = None
    patience: Positive = PATIENCE
    language: str | None = None
    tags: dict[str, str] = {}


def load_personas(path: Path) -> list[Persona]:
    """Return the personas of a file. Raises ConfigError naming the line and what to change."""
    text = read_settings_text(path, f"no such file. Write one, with a table [[{TABLE}]] for each user.")
    tables = parse_toml(text, path)
    if other := next((key for key in tables if key != TABLE), None):
        raise ConfigError(f"{path}: unknown key {other!r}. {nearest(other, [TABLE])}")
    return parse_personas(tables.get(TABLE), path, text)


def parse_personas(listed: object, path: Path, text: str = "") -> list[Persona]:
    """Return the personas of tables. path, text: of the file, for errors. Raises ConfigError."""
    if not isinstance(listed, list) or not listed:
        raise ConfigError(f"{path}: there is no user. Write a table [[{TABLE}]] with name and goal for each.")
    parts = _parts(text, len(listed))
    personas = [_persona(table, path, part) for table, part in zip(listed, parts, strict=True)]
    for name, n in Counter(persona.name for persona in personas).items():
        if n > 1:  # rows are told apart by it
            raise ConfigError(f"{path}: {n} personas are named {name!r}: give each another name.")
    return personas


def _parts(text: str, n: int) -> list[str]:
    """Return the text of the file for each persona, with the lines of the others emptied."""
    lines = text.splitlines()
    starts = [at for at, line in enumerate(lines) if _HEADER.match(line)]
    if len(starts) != n:  # written otherwise, as an array
        return [text] * n
    ends = [*starts[1:], len(lines)]
    return ["\n" * start + "\n".join(lines[start:end]) for start, end in zip(starts, ends, strict=True)]


def _persona(table: object, path: Path, text: str) -> Persona:
    """Return a persona. text: that its lines are counted in."""
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: {TABLE} is {table!r}: write a table [[{TABLE}]] for each user.")
    facts = table.get("facts")
    if isinstance(facts, dict):  # `town = "Nakuru"` for short
        spelled = {name: {"value": fact} if isinstance(fact, str) else fact for name, fact in facts.items()}
        table = {**table, "facts": spelled}
    try:
        persona = convert_section(table, Persona, path, text, [TABLE])
    except ConfigError as mistake:
        message = str(mistake)
        for pattern, meaning in _PATTERNS.items():
            message = message.replace(pattern, meaning)
        raise ConfigError(message) from None
    if problem := _problem(persona):
        raise ConfigError(f"{path}: the persona {persona.name!r}: {problem}")
    return persona


def _problem(persona: Persona) -> str | None:
    """Return why nobody can be simulated so, or None."""
    if persona.script is not None and not persona.script:
        return "its script is empty. Write what the user says, or leave `script` out for a model."
    wanted = persona.goal_met
    if wanted is None:
        return None
    if wanted == WantedEnd():
        return f"goal_met says nothing. Give one of: {', '.join(WantedEnd.__struct_fields__)}."
    return wanted.regex and problem_of("regex", wanted.regex)
