"""The attacks that ship: one file a family in library/, each text in our own words."""

import re
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Literal

from ragstone.agreement.attacks.disguise import DISGUISES
from ragstone.config import Section, convert_section, library_names, parse_toml
from ragstone.errors import ConfigError, nearest

Place = Literal["before", "after", "instead", "context", "question"]
Aim = Literal["raise", "lower"]

PLACEHOLDERS = (
    "wrong",
    "question",
    "reference",
    "goal",
    "field",
    "verdict",
    "guess",
    "guessed_verdict",
    "filler",
    "hidden",
)
NAMED = re.compile(r"\{([a-z_]+)\}")
ROOM = "ragstone.agreement.attacks"


class Attack(Section, frozen=True, kw_only=True):
    """One text, and where it is put.

    text: with placeholders in braces, see planting.py. places: before or after the answer, instead of it, as
    one more context, or after the question. hidden: what `{hidden}` stands for, disguised (see disguise.py).
    """

    name: str
    text: str
    places: tuple[Place, ...] = ("after",)
    hidden: str | None = None
    disguise: str | None = None


class Family(Section, frozen=True, kw_only=True):
    """Attacks of one kind. aim: to raise the verdict on a bad answer, or to lower that on a good one."""

    name: str = ""
    about: str
    aim: Aim = "raise"
    attack: list[Attack]


def family_names() -> list[str]:
    """Return the names of the families, sorted."""
    return library_names(ROOM, "library")


def load_families(names: Iterable[str] | None = None) -> list[Family]:
    """Return these families, or all, each once. Raises ConfigError naming the nearest name."""
    known = family_names()
    chosen = known if names is None else list(dict.fromkeys(names))
    for name in chosen:
        if name not in known:
            raise ConfigError(f"unknown family of attacks {name!r}. {nearest(name, known)}")
    return [_load(name) for name in chosen]


def _load(name: str) -> Family:
    text = (resources.files(ROOM) / "library" / f"{name}.toml").read_text(encoding="utf-8")
    return parse_family(text, name)


def parse_family(text: str, name: str) -> Family:
    """Return the family that a TOML text describes. Raises ConfigError."""
    file = Path(f"{name}.toml")
    family = convert_section(parse_toml(text, file) | {"name": name}, Family, file, text)
    for attack in family.attack:
        problem = _problem_of(attack)
        if problem:
            raise ConfigError(f"{file}: attack {attack.name!r}: {problem}")
    return family


def _problem_of(attack: Attack) -> str | None:
    unknown = {*NAMED.findall(attack.text), *NAMED.findall(attack.hidden or "")} - {*PLACEHOLDERS}
    if unknown:
        return f"{{{min(unknown)}}} is no placeholder. {nearest(min(unknown), PLACEHOLDERS)}"
    if (attack.hidden is None) != (attack.disguise is None) or ("{hidden}" in attack.text) != bool(
        attack.hidden
    ):
        return "give hidden, disguise, and {hidden} in its text, all three or none."
    if attack.disguise and attack.disguise not in DISGUISES:
        return f"disguise = {attack.disguise!r}. {nearest(attack.disguise, DISGUISES)}"
    return None
