"""What every table of a TOML file of ours is."""

from typing import Annotated, Literal

import msgspec

Positive = Annotated[int, msgspec.Meta(gt=0)]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=604_800)]  # a week at most: no clock counts to infinity
Temperature = Annotated[float, msgspec.Meta(ge=0, le=2)]
Nucleus = Annotated[float, msgspec.Meta(gt=0, le=1)]  # top_p
EngineKind = Literal["local", "ray"]


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file. An unknown key is an error, never ignored."""


class Sampling(Section, frozen=True, kw_only=True):
    """How a model draws its reply, where somebody asks for it. max_tokens: of the reply, thought apart."""

    temperature: Temperature | None = None
    top_p: Nucleus | None = None
    max_tokens: Positive | None = None


def sampling_of(*tables: Sampling) -> Sampling:
    """Return the sampling that several tables declare: of each field what the first says that has it."""
    return Sampling(
        **{
            name: next((value for table in tables if (value := getattr(table, name)) is not None), None)
            for name in Sampling.__struct_fields__
        }
    )


class Price(Section, frozen=True, kw_only=True):
    """US dollars for a million tokens.

    cached, cache_write: of input tokens that the provider's cache had, or took up; without them as `input`.
    reasoning: of output tokens that the model thought with; without it as `output`.
    """

    input: NotNegative
    output: NotNegative
    cached: NotNegative | None = None
    cache_write: NotNegative | None = None
    reasoning: NotNegative | None = None
