"""What moves a judge although it should not: length, repetition, markdown, tone, position, its own model."""

from ragstone.agreement.probes.effect import ProbeEffect, effect_of, unmeasured
from ragstone.agreement.probes.own import own_model_effect
from ragstone.agreement.probes.position import position_effect
from ragstone.agreement.probes.transform import TRANSFORMS, Probed, probed_rows

PROBES = (*TRANSFORMS, "position", "own_model")

__all__ = [
    "PROBES",
    "TRANSFORMS",
    "ProbeEffect",
    "Probed",
    "effect_of",
    "own_model_effect",
    "position_effect",
    "probed_rows",
    "unmeasured",
]
