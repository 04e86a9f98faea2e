"""Kind `percentage`: a whole number from 0 to 100, in one call."""

from typing import Annotated, ClassVar

import msgspec

from ragstone.kernel.judging.fields import Scale
from ragstone.kernel.judging.one_call import OneCallJudge
from ragstone.kernel.judging.render import Field

PERCENTAGE = Annotated[int, msgspec.Meta(ge=0, le=100)]


class PercentageJudge(OneCallJudge, frozen=True, kw_only=True, tag="percentage"):
    """A judge that says how much of something there is."""

    fixed_scale: ClassVar[Scale | None] = (0, 100)
    reason_words: ClassVar[str] = "one or two sentences"

    def _outcome_field(self) -> Field:
        return Field("score", PERCENTAGE, "a whole number from 0 to 100")
