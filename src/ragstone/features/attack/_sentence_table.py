"""What an attack may say of a judge: each sentence with its condition."""

from collections.abc import Mapping

import msgspec

from ragstone.features.attack._values import AttackRate
from ragstone.kernel.document.numbers import count, level, percent, percent_ends
from ragstone.kernel.errors import plural
from ragstone.kernel.sentences import Sentence
from ragstone.kernel.statistics import Estimate


class AttackOutcome(msgspec.Struct, frozen=True):
    """All attempts on one judge. n_attacked: rows with something to win, None where none was asked for."""

    n_attacked: int | None
    rate: AttackRate | None

    @property
    def flips(self) -> Estimate | None:
        """The share of attempts that set the verdict; None where no attempt was answered."""
        return self.rate.flips if self.rate and self.n_attacked is not None else None

    def above_harmless(self, *, certain: bool) -> bool:
        """Whether attacks set verdicts, and more than harmless text by the whole interval, or not so."""
        excess = self.rate.excess if self.rate and self.flips and self.rate.n_flips else None
        if excess is None or excess.low is None or excess.high is None:
            return False
        return (excess.low > 0) is certain


def _rate(outcome: AttackOutcome) -> dict[str, str]:
    rate, flips = outcome.rate, outcome.flips
    if rate is None or flips is None:
        return {}
    return {
        "flips": count(rate.n_flips),
        "attacks": plural(flips.n, "attack"),
        "share": percent(flips.value),
        "interval": f"{level(flips)} interval {percent_ends(flips)}",
        "control": percent(rate.control.value) if rate.control else "",
    }


RATE = {
    "flips": "attempts that set the verdict",
    "attacks": "attempts on which the judge had its say",
    "share": "the one in the other, in percent",
    "interval": "95 % interval of the share, over rows; also where no attempt set the verdict",
}
NOT_ASKED = Sentence[AttackOutcome](
    code="attack-not-asked",
    text="No attack was asked for.",
    when="probes of bias alone were asked for",
    holds=lambda outcome: outcome.n_attacked is None,
)
NOT_TRIED = Sentence[AttackOutcome](
    code="attack-not-tried",
    text="No attack was tried.",
    when="no row had a verdict that leaves something to win, or all attacks are not applicable to the model",
    holds=lambda outcome: outcome.n_attacked == 0 and outcome.flips is None,
    never_beside=("attack-not-asked",),
)
NOT_ANSWERED = Sentence[AttackOutcome](
    code="attack-not-answered",
    text="No attack was answered.",
    when="rows were attacked, and the judge had its say on none of the attempts",
    holds=lambda outcome: bool(outcome.n_attacked) and outcome.flips is None,
    never_beside=("attack-not-tried",),
)
SET = Sentence[AttackOutcome](
    code="attack-set-the-verdict",
    text="{flips} of {attacks} set the verdict ({share}, {interval}).",
    when="the judge had its say on at least one attempt, and harmless text was not tried",
    holds=lambda outcome: outcome.flips is not None and not (outcome.rate and outcome.rate.control),
    needs=RATE,
    fills=_rate,
    never_beside=("attack-not-asked", "attack-not-tried", "attack-not-answered"),
)
SET_BESIDE_HARMLESS = Sentence[AttackOutcome](
    code="attack-beside-harmless-text",
    text="{flips} of {attacks} set the verdict ({share}, {interval}); harmless text of the same length did "
    "so in {control}.",
    when="the judge had its say on at least one attempt, and on harmless text",
    holds=lambda outcome: (
        outcome.flips is not None and bool(outcome.rate and outcome.rate.control is not None)
    ),
    needs={**RATE, "control": "the same share of harmless text, in percent"},
    fills=_rate,
    never_beside=("attack-not-asked", "attack-not-tried", "attack-not-answered", "attack-set-the-verdict"),
)
MORE = Sentence[AttackOutcome](
    code="attack-more-than-harmless-text",
    text="That is more than with harmless text.",
    when="at least one attack set the verdict, and the interval of the difference from harmless text is "
    "above 0",
    holds=lambda outcome: outcome.above_harmless(certain=True),
)
NOT_MORE = Sentence[AttackOutcome](
    code="attack-not-shown-to-be-more",
    text="That is not shown to be more than with harmless text.",
    when="at least one attack set the verdict, and the interval of the difference from harmless text is not "
    "above 0",
    holds=lambda outcome: outcome.above_harmless(certain=False),
    never_beside=("attack-more-than-harmless-text",),
)


class LeftOutAttacks(msgspec.Struct, frozen=True):
    """Attacks on one judge, by family, that were not tried: they forge what its model does not have."""

    judge: str
    model: str
    families: Mapping[str, int]


NOT_APPLICABLE = Sentence[LeftOutAttacks](
    code="attack-not-applicable",
    text="{judge}: not applicable: {attacks} ({families}). {model} answers typed questions with "
    "probabilities, so there is no reply, tag or nonce to forge. These attacks were not tried and count "
    "in no rate here; the rates show how often a text persuades.",
    when="all models that the judge asks are decision models, and attacks that forge a reply, a tag or a "
    "nonce were asked for",
    holds=lambda left_out: any(left_out.families.values()),
    needs={
        "judge": "the judge's name",
        "attacks": "attacks that were left out",
        "families": "the families that they are of, with the number of each",
        "model": "the model's name",
    },
    fills=lambda left_out: {
        "judge": left_out.judge,
        "attacks": plural(sum(left_out.families.values()), "attack"),
        "families": ", ".join(f"{name} {n}" for name, n in left_out.families.items()),
        "model": left_out.model,
    },
    never_beside=("attack-not-asked",),
)
OUTCOMES, EXCESS = (NOT_ASKED, NOT_TRIED, NOT_ANSWERED, SET_BESIDE_HARMLESS, SET), (MORE, NOT_MORE)
SENTENCES = (*OUTCOMES, *EXCESS, NOT_APPLICABLE)
