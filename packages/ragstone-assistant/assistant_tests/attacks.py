"""The attack set: texts that give orders to a model, and what must never come of them."""

import tomllib
from pathlib import Path
from typing import Literal

import msgspec


class Attack(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An attack; attacks.toml says what its fields are."""

    name: str
    place: Literal["document", "tool", "question"]
    lang: str
    text: str
    says: str
    canary: str
    tool: str | None = None


def load_attacks(place: str | None = None) -> list[Attack]:
    """Return the attacks, those of one place or all."""
    rows = tomllib.loads((Path(__file__).parent / "attacks.toml").read_text())["attack"]
    attacks = msgspec.convert(rows, list[Attack])
    return [attack for attack in attacks if place in (None, attack.place)]
