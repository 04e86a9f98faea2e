"""Text of a model -> the one reply in it, or a ReplyError; never a guess.

Models wrap JSON in prose, in fences and in `<think>` blocks, and quote the text under test, which may
itself hold JSON. So every object of the reply is looked at, and it must be clear which one is meant:
several valid ones that differ fail closed.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from ragstone.llm.schema import ReplyError, validate

THINK = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
# Not strict: a line break inside a string is what small models write, and it changes no meaning.
DECODER = json.JSONDecoder(strict=False, parse_constant=lambda name: _reject(name))


def parse_reply(text: str, reply: type, nonce: str | None) -> Any:
    """Return the reply as a value of its type.

    Raises ReplyError when there is no valid object, or when there are several that disagree.
    """
    spoken = THINK.sub("", text)
    valid: list[Any] = []
    mistake = ReplyError(f"no JSON object in the reply {_shown(text)}")
    for found in _objects(spoken, nonce):
        try:
            value = validate(found, reply, nonce)
        except ReplyError as wrong:
            mistake = wrong
            continue
        if value not in valid:
            valid.append(value)
    if not valid:
        raise mistake
    if len(valid) > 1:
        raise ReplyError("the reply holds several JSON objects that disagree; give exactly one")
    return valid[0]


def _objects(text: str, nonce: str | None) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects of a text, in order.

    What stands inside a broken one may be a quotation. It is looked at only where a nonce proves whose
    words it is.
    """
    position = text.find("{")
    while position != -1:
        try:
            found, end = DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            if nonce is None:
                return
            end = position + 1
        else:
            yield found
        position = text.find("{", end)


def _reject(name: str) -> Any:
    raise ReplyError(f"{name} is no JSON value")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
