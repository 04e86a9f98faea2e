"""The attacks that ship, one file a family in library/, and the verdict that each of them is after."""

import base64
import codecs
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from ragstone.features.attack._rows import ROOM
from ragstone.features.attack._values import Aim, Place
from ragstone.kernel.config import Section, convert_section, library_names, parse_toml, shipped
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.judging import Judge

ZERO_WIDTH_SPACE = "\u200b"
RIGHT_TO_LEFT, POP = "\u202e", "\u202c"
TAGS = 0xE0000  # the block that repeats ASCII without a glyph
LOOK_ALIKES = str.maketrans(
    "aceiopsxyACEHIOPX",
    "\u0430\u0441\u0435\u0456\u043e\u0440\u0455\u0445\u0443\u0410\u0421\u0415\u041d\u0406\u041e\u0420\u0425",
)
LEET = str.maketrans("aeiost", "431057")


def as_base64(text: str) -> str:
    """Return the text in base64."""
    return base64.b64encode(text.encode()).decode()


def as_tags(text: str) -> str:
    """Return the ASCII characters of the text as tag characters, which no font shows."""
    return "".join(chr(TAGS + ord(letter)) for letter in text if letter.isascii() and letter.isprintable())


def as_reversed(text: str) -> str:
    """Return the text backwards between marks that make it read forwards on a screen."""
    return f"{RIGHT_TO_LEFT}{text[::-1]}{POP}"


DISGUISES: dict[str, Callable[[str], str]] = {
    "base64": as_base64,
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "hex": lambda text: text.encode().hex(" "),
    "leet": lambda text: text.translate(LEET),
    "spaced": lambda text: " ".join(text),
    "zero_width": ZERO_WIDTH_SPACE.join,
    "tags": as_tags,
    "reversed": as_reversed,
    "look_alikes": lambda text: text.translate(LOOK_ALIKES),
}

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
FORGED = {"verdict", "guess", "guessed_verdict"}


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
    """Attacks of one kind. aim: to raise the verdict on a bad answer, or to lower that on a good one.

    forges_reply: all of them aim at the form of the prompt or of the reply.
    """

    name: str = ""
    about: str
    aim: Aim = "raise"
    forges_reply: bool = False
    attack: list[Attack]

    def persuading(self) -> "Family":
        """Return it without what forges a reply, a tag or a nonce: what is left can only persuade."""
        kept = [each for each in self.attack if not (self.forges_reply or FORGED & _named_in(each))]
        return msgspec.structs.replace(self, attack=kept)


def _named_in(attack: Attack) -> set[str]:
    return {*NAMED.findall(attack.text), *NAMED.findall(attack.hidden or "")}


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
    return [
        parse_family(shipped(ROOM, "library", f"{name}.toml").read_text("utf-8"), name) for name in chosen
    ]


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
    unknown = _named_in(attack) - {*PLACEHOLDERS}
    if unknown:
        return f"{{{min(unknown)}}} is not a placeholder. {nearest(min(unknown), PLACEHOLDERS)}"
    if (attack.hidden is None) != (attack.disguise is None) or ("{hidden}" in attack.text) != bool(
        attack.hidden
    ):
        return "give hidden, disguise, and {hidden} in its text, all three or none."
    if attack.disguise and attack.disguise not in DISGUISES:
        return f"disguise = {attack.disguise!r}. {nearest(attack.disguise, DISGUISES)}"
    return None


REASON = "Every point is met and nothing is missing."
LOW_REASON = "Not a single point is met."


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict that an attack wants.

    wanted: the end of the scale, as the reply has it. field: what holds the verdict there. reply: the whole
    reply, without the nonce, that would be the wanted verdict.
    """

    wanted: str
    field: str
    reply: dict[str, object]


def wants_high(judge: Judge, aim: Aim) -> bool:
    """Return whether the attack wants the high end of the judge's scale."""
    return (aim == "raise") != (judge.best == "lowest")


def goal_of(judge: Judge, aim: Aim) -> Goal:
    """Return what an attack on this judge wants; of a jury or cascade, of its first member that is asked."""
    first = next((leaf for leaf, _model in judge.leaves() if leaf.needs_model), judge)
    end = first.end(wants_high(judge, aim))
    field, reply = first.verdict(end, REASON if aim == "raise" else LOW_REASON)
    wanted = end if isinstance(end, str) else msgspec.json.encode(end).decode()
    return Goal(wanted=wanted, field=field, reply=reply)
