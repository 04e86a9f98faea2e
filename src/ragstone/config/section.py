"""What every table of a TOML file of ours is."""

from typing import Annotated

import msgspec

Positive = Annotated[int, msgspec.Meta(gt=0)]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=604_800)]  # a week at most: no clock counts to infinity


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file. An unknown key is an error, never ignored."""


class Price(Section, frozen=True, kw_only=True):
    """US dollars for a million tokens. Tokens from the provider's cache cost `cached`, else as `input`."""

    input: NotNegative
    output: NotNegative
    cached: NotNegative | None = None
