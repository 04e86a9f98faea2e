"""Texts that try to set their own verdict, and how often they do."""

from ragstone.agreement.attacks.attack import Aim, Attack, Family, family_names, load_families
from ragstone.agreement.attacks.base import attackable_rows
from ragstone.agreement.attacks.planting import Planted, plant
from ragstone.agreement.attacks.rates import AttackRate, Attempt, attempts_of, gate, rates_of
from ragstone.agreement.attacks.shown import Flip, flips_shown

__all__ = [
    "Aim",
    "Attack",
    "AttackRate",
    "Attempt",
    "Family",
    "Flip",
    "Planted",
    "attackable_rows",
    "attempts_of",
    "family_names",
    "flips_shown",
    "gate",
    "load_families",
    "plant",
    "rates_of",
]
