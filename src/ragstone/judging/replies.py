"""The forms of reply that judges ask for. The reason comes before the score in each."""

import functools
from typing import Annotated, Literal

import msgspec


class PercentageReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reason, then a whole number from 0 to 100."""

    reason: str
    score: Annotated[int, msgspec.Meta(ge=0, le=100)]


class BooleanReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reason, then true or false."""

    reason: str
    verdict: bool


class Statement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One atomic statement, numbered from 1."""

    id: int
    statement: str


class StatementsReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer, taken apart."""

    statements: list[Statement]


class StatementVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether the contexts support the statement with this id."""

    id: int
    reason: str
    supported: bool


class VerdictsReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A verdict for each statement."""

    verdicts: list[StatementVerdict]


PERCENTAGE_FORM = '{"nonce": the code, "reason": one or two sentences, "score": a whole number from 0 to 100}'
BOOLEAN_FORM = '{"nonce": the code, "reason": one sentence, "verdict": true or false}'
STATEMENTS_FORM = '{"nonce": the code, "statements": [{"id": 1, "statement": "..."}, {"id": 2, ...}, ...]}'
VERDICTS_FORM = (
    '{"nonce": the code, '
    '"verdicts": [{"id": 1, "reason": one short sentence, "supported": true or false}, ...]}'
)


@functools.lru_cache(maxsize=64)
def label_reply(labels: tuple[str, ...]) -> type[msgspec.Struct]:
    """Return the form of a reply that chooses one of the labels: fields `reason` and `label`."""
    choice = Literal[labels]  # type: ignore[valid-type]
    return msgspec.defstruct(
        "LabelReply", [("reason", str), ("label", choice)], frozen=True, forbid_unknown_fields=True
    )


def label_form(labels: tuple[str, ...]) -> str:
    """Return the form of a label reply in words."""
    return f'{{"nonce": the code, "reason": one sentence, "label": one of {", ".join(map(repr, labels))}}}'
