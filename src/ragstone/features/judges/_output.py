"""What `ragstone judges list`, `show` and `test` print with --json."""

from typing import Any

import msgspec

from ragstone.features.judges.testing import ShownTrial
from ragstone.kernel.statistics import Estimate


class ListedPrice(msgspec.Struct, frozen=True, kw_only=True):
    """What 1,000 answers cost at the project's model, see JudgePrice."""

    model: str | None
    usd: float | None
    at_most: bool
    pairs: bool


class ListedCard(msgspec.Struct, frozen=True, kw_only=True):
    """The report card that says most of a judge. measure, estimate: agreement beyond chance, if defined."""

    metric: str
    model: str
    prompt_version: int
    n: int
    measure: str | None
    estimate: Estimate | None
    better_than_baseline: bool | None


class JudgeLine(msgspec.Struct, frozen=True, kw_only=True):
    """A judge of the list. wrong: why a file of the project is no judge; most fields are then absent."""

    name: str
    about: str | None
    group: str
    kind: str | msgspec.UnsetType = msgspec.UNSET
    metric: str | msgspec.UnsetType = msgspec.UNSET
    reads: list[str] | msgspec.UnsetType = msgspec.UNSET
    scale: tuple[float, float] | msgspec.UnsetType = msgspec.UNSET
    needs_model: bool | msgspec.UnsetType = msgspec.UNSET
    path: str | None
    card: ListedCard | msgspec.UnsetType | None = msgspec.UNSET
    n_cards: int | msgspec.UnsetType = msgspec.UNSET
    price: ListedPrice | msgspec.UnsetType | None = msgspec.UNSET
    wrong: str | msgspec.UnsetType | None = msgspec.UNSET


class JudgeOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A judge: its keys, with every default. code: of one that runs Python, the files, and no prompts."""

    judge: dict[str, Any]
    code: list[str] | msgspec.UnsetType = msgspec.UNSET
    metrics: list[str] | msgspec.UnsetType = msgspec.UNSET
    prompts: list[ShownTrial] | msgspec.UnsetType = msgspec.UNSET


class CheckedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's file that is sound, and the prompts that it would send; no model was asked."""

    judge: str
    prompts: list[ShownTrial]
