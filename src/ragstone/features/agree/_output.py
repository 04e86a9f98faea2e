"""What `ragstone agree --json` prints."""

import msgspec

from ragstone.features.agree._parity import LanguageParity
from ragstone.features.agree.flips import Flips
from ragstone.features.agree.gaps import SpecGaps
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.corrected_mean import CorrectedMean
from ragstone.kernel.agreement.sequential import SequentialAgreement


class CardOutput(ReportCard, frozen=True, kw_only=True):
    """A judge's report card, and what else is known of it.

    corrected: its means as people would see them, of each system; corrected_by_language: of each language.
    parity: its agreement language by language. sequential: with --sequential, what may be said while labels
    are added.
    """

    corrected: list[CorrectedMean]
    corrected_by_language: list[CorrectedMean]
    parity: list[LanguageParity]
    sequential: SequentialAgreement | msgspec.UnsetType | None = msgspec.UNSET


class LanguagesOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a judge without labels: does it judge copies of an answer alike in each language?"""

    judge: str
    metric: str
    model: str
    prompt_version: int
    parity: list[LanguageParity]


class GapsOutput(msgspec.Struct, frozen=True, kw_only=True):
    """Where grades differ for the same reason, by metric; again: metric -> how many answers flipped."""

    gaps: list[SpecGaps]
    again: dict[str, list[Flips]]
