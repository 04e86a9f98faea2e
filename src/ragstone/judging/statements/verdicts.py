"""Numbered things -> exactly one verdict on each, or none at all for the row."""

import functools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from itertools import islice
from typing import Annotated, Any

import msgspec

from ragstone.judging.finding import unparsable
from ragstone.llm import Reply

A_CALL = 15  # verdicts in one reply: more may not fit its limit, and small models lose count
MOST_REASON = 300  # characters, told to the model: a longer reason is no reason to lose a verdict

AskAbout = Callable[[Mapping[int, str]], Awaitable[Reply]]
"""Asks about some numbered things; the reply's value has `verdicts`."""


class Said(msgspec.Struct, frozen=True):
    """One verdict. context: the number that it names as its evidence, 0 for none."""

    id: int
    reason: str
    verdict: bool
    context: int = 0


def batches(numbered: Mapping[int, str]) -> Iterator[dict[int, str]]:
    """Yield the things by as many as one call asks about."""
    rest = iter(numbered.items())
    while batch := dict(islice(rest, A_CALL)):
        yield batch


async def one_verdict_each(
    numbered: Mapping[int, str], ask: AskAbout, replies: list[Reply], *, what: str = "statement"
) -> dict[int, Said]:
    """Return exactly one verdict on each of the things, by number; `replies` gains what was said.

    One without a verdict, or with two that disagree, is asked about once more; verdicts on numbers that
    were not asked about are passed over. what: one of the things is called in the error. Raises CallFailed
    (unparsable) if one is still open.
    """
    found: dict[int, Said] = {}
    for _attempt in range(2):
        missing = {number: text for number, text in numbered.items() if number not in found}
        reply = await ask(missing)
        replies.append(reply)
        said = [msgspec.convert(one, Said, from_attributes=True) for one in reply.value.verdicts]
        found |= _undisputed(said, missing)
        if len(found) == len(numbered):
            return found
    open_ids = ", ".join(str(number) for number in numbered if number not in found)
    raise unparsable(f"no single verdict for {what} {open_ids} of {len(numbered)} in one call", replies)


def _undisputed(verdicts: list[Said], asked: Mapping[int, str]) -> dict[int, Said]:
    """Return the verdicts on what was asked about, without those that contradict each other."""
    said: dict[int, set[bool]] = {}
    for one in verdicts:
        said.setdefault(one.id, set()).add(one.verdict)
    return {one.id: one for one in verdicts if one.id in asked and len(said[one.id]) == 1}


def numbered_lines(numbered: Mapping[int, str]) -> str:
    """Return the things as a call shows them. Each stands in one line, so that none can pose as two."""
    return "\n".join(f"{number}. {' '.join(text.split())}" for number, text in numbered.items())


def share_of(n: int, n_all: int, thing: str) -> str:
    """Return `2 of 3 statements`."""
    return f"{n} of {n_all} {thing}{'' if n_all == 1 else 's'}"


@functools.lru_cache(maxsize=256)
def verdicts_reply(
    ids: tuple[int, ...], contexts: tuple[int, ...] | None = None, name: str = "supported"
) -> type[msgspec.Struct]:
    """Return the form of a reply with a verdict on each of these ids, in a field of this name.

    contexts: the numbers of which one is named as evidence, or 0; None asks for none. Ids, numbers and
    how many there are stand in the schema, which a model may be held to; a reply that departs from them is
    read all the same, for one_verdict_each knows what to do with it.
    """
    number = Annotated[int, msgspec.Meta(extra_json_schema={"enum": list(ids)})]
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = [
        ("id", number),
        ("reason", Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": MOST_REASON})]),
    ]
    if contexts is not None:
        shown = Annotated[int, msgspec.Meta(extra_json_schema={"enum": [0, *contexts]})]
        fields.append(("context", shown, 0))
    renamed = {} if name == "verdict" else {"verdict": name}
    verdict = msgspec.defstruct(
        "StatementVerdict",
        [*fields, ("verdict", bool)],
        rename=renamed,
        kw_only=True,
        frozen=True,
        forbid_unknown_fields=True,
    )
    count = msgspec.Meta(extra_json_schema={"minItems": len(ids), "maxItems": len(ids)})
    return msgspec.defstruct(
        "VerdictsReply",
        [("verdicts", Annotated[list[verdict], count])],  # type: ignore[valid-type]
        frozen=True,
        forbid_unknown_fields=True,
    )


def verdicts_form(*, cited: bool = False, name: str = "supported") -> str:
    """Return the form of such a reply in words."""
    context = '"context": the number of the passage that supports it, or 0, ' if cited else ""
    return (
        '{"nonce": the code, "verdicts": [{"id": 1, "reason": one short sentence, '
        f'{context}"{name}": true or false}}, ...]}}'
    )
