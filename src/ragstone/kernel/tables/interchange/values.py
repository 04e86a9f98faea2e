"""Values as tools and logs keep them -> texts that were asked and answered, passages, times, numbers."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from ragstone.kernel.records import Role, count_of, figure_of
from ragstone.kernel.tables.columns import as_list
from ragstone.kernel.tables.names import (
    ANSWER_NAMES,
    CONTENT_NAMES,
    MESSAGES,
    PASSAGE_LISTS,
    PASSAGE_TEXT,
    QUESTION_NAMES,
    ROLE_NAMES,
    ROLES,
)

MOST_LEVELS = 5  # of objects in objects


def said_in(row: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the last user's message of a conversation and the reply to it, as far as there is one."""
    messages = _messages(row, MOST_LEVELS)
    said = [(role_in(one), content_in(one)) for one in messages]
    last = max((at for at, (role, text) in enumerate(said) if role == "user" and text), default=None)
    if last is None:
        return None, None
    replies = [text for role, text in said[last + 1 :] if role == "assistant" and text]
    return said[last][1], replies[-1] if replies else None


def _messages(row: Mapping[str, Any], levels: int) -> list[Mapping[str, Any]]:
    """Return the messages of a row: its own, else those of an object in it, such as a request's body."""
    for name in (*MESSAGES, "input", "inputs", "prompt"):
        listed = row.get(name)
        if isinstance(listed, list) and any(isinstance(one, Mapping) and role_name(one) for one in listed):
            return [one for one in listed if isinstance(one, Mapping)]
    for name in ("request", "body", "input", "inputs", "kwargs", "data") if levels else ():
        inner = row.get(name)
        if isinstance(inner, Mapping):
            found = _messages(inner, levels - 1)
            if found:
                return found
    return []


def role_name(message: Mapping[str, Any]) -> str:
    """Return what a message calls the one who speaks, in small letters; empty where it does not say."""
    role = first_in(message, ROLE_NAMES)
    role = role.get("role") if isinstance(role, Mapping) else role
    kind = message.get("type")  # LangChain's name of it; elsewhere a type is that of an item
    if role is None and isinstance(kind, str) and kind.casefold() in ROLES:
        role = kind
    return role.casefold() if isinstance(role, str) else ""


def role_in(message: Mapping[str, Any]) -> Role | None:
    """Return the role of a message; None for one that is not known."""
    return ROLES.get(role_name(message))


def content_in(message: Mapping[str, Any]) -> str | None:
    """Return the text of a message, also from within its parts."""
    return _text(first_in(message, CONTENT_NAMES), MOST_LEVELS)


def first_in(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    """Return the value of the first of these fields that has one."""
    return next((row[name] for name in names if row.get(name) is not None), None)


def question_text(value: object) -> str | None:
    """Return a question's text; an object holds it under a known name."""
    if isinstance(value, Mapping):
        inner = {str(name).casefold(): one for name, one in value.items()}
        return next((text for name in QUESTION_NAMES if (text := _text(inner.get(name), 1))), None)
    return _text(value, 0)


def answer_text(value: object) -> str | None:
    """Return an answer's text, also from within choices, outputs and parts."""
    return _text(value, MOST_LEVELS)


def _text(value: object, levels: int) -> str | None:
    """Return the text that a value holds: itself, or that of choices, outputs, parts and contents."""
    if isinstance(value, str):
        return value.strip() or None
    if not levels:
        return None
    if isinstance(value, Mapping):
        inner = (
            "output_text",
            "content",
            "text",
            "answer",
            "output",
            "message",
            "choices",
            "body",
            "response",
            "parts",
        )
        return next((text for name in inner if (text := _text(value.get(name), levels - 1))), None)
    if isinstance(value, Sequence):
        said = [text for one in value if (text := _text(one, levels - 1))]
        return "\n".join(said) or None
    return None


_1973 = 1e8  # in seconds
_YEAR_1, _YEAR_9999 = -62_135_596_800, 253_402_300_799


def fields_in(value: object) -> Mapping[str, Any]:
    """Return an object's fields; none of what is no object."""
    return value if type(value) is dict or isinstance(value, Mapping) else {}


def objects_in(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list; none of what is no list."""
    if not isinstance(value, list):
        return []
    return [one for one in value if type(one) is dict or isinstance(one, Mapping)]


def decoded(value: object) -> object:
    """Return what a text of JSON stands for; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ('"', "{", "["):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return value
    return value


def question_in(value: object) -> str | None:
    """Return the question that an input holds: its text, the last message of a user, or a known field.

    An object of which nothing is known asks what its only text says.
    """
    inside = decoded(value)
    if isinstance(inside, list):
        inside = {"messages": inside}
    if not isinstance(inside, Mapping):
        return question_text(inside) or written(value)
    texts = [one for one in inside.values() if isinstance(one, str) and one.strip()]
    return said_in(inside)[0] or question_text(inside) or (texts[0] if len(texts) == 1 else None)


def answer_in(value: object) -> str | None:
    """Return the answer that an output holds: its text, the last message of an assistant, or a known field.

    An empty text is an answer too. An object of which nothing is known is written as JSON.
    """
    if value == "":
        return ""
    inside = decoded(value)
    if isinstance(inside, Mapping):
        by_name = {str(name).casefold(): one for name, one in inside.items()}
        named = (answer_text(by_name.get(name)) for name in ANSWER_NAMES)
        said = _replied(inside) or next((text for text in named if text), None)
        return said or answer_text(inside) or written(inside)
    if isinstance(inside, list):
        return _replied({"messages": inside}) or answer_text(inside) or written(inside)
    return answer_text(inside) or written(value)


def _replied(row: Mapping[str, Any]) -> str | None:
    """Return what an assistant said last, also where nobody asked in the same list."""
    asked, answered = said_in(row)
    if asked is not None:
        return answered
    listed = row.get("messages")
    if not isinstance(listed, list):
        return None
    return said_in({"messages": [{"role": "user", "content": "?"}, *listed]})[1]


def written(value: object) -> str | None:
    """Return a text as it is, anything else as JSON; None for what holds nothing."""
    if value is None or value == {} or value == []:
        return None
    return value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()


def contexts_in(value: object) -> list[dict[str, Any]] | None:
    """Return the passages that an output of a retriever holds; None where it is not known to hold any."""
    inside = decoded(value)
    if isinstance(inside, Mapping):
        lists = (decoded(inside[name]) for name in PASSAGE_LISTS if name in inside)
        inside = next((one for one in lists if isinstance(one, list)), None)
        return None if inside is None else contexts_in(inside)
    if inside is None or inside == "":
        return None
    return [one for item in as_list(inside) if (one := context_in(item))]


def context_in(item: object) -> dict[str, Any] | None:
    """Return a passage as a context: text, and id and score as far as they are there. None without a text."""
    inside = decoded(item)
    if isinstance(inside, str):
        return {"text": inside} if inside else None
    if not isinstance(inside, Mapping):
        return None
    fields = {str(name).removeprefix("document."): one for name, one in inside.items()}
    for name in ("document", "node"):
        if isinstance(fields.get(name), Mapping):
            fields |= {str(key): one for key, one in fields.pop(name).items()}
    text = next((fields[name] for name in PASSAGE_TEXT if isinstance(fields.get(name), str)), None)
    if not text:
        return None
    found: dict[str, Any] = {"text": text}
    if isinstance(fields.get("id"), str | int):
        found["id"] = str(fields["id"])
    score = number_in(fields.get("score"))
    return found if score is None else {**found, "score": score}


def notes_in(value: object) -> dict[str, str | int | float | bool]:
    """Return the single values of an object of metadata, or of a list of `name:value`."""
    inside = decoded(value)
    if isinstance(inside, list):
        pairs = (one.partition(":") for one in inside if isinstance(one, str))
        return {name.strip(): said.strip() for name, _, said in pairs if name.strip() and said.strip()}
    return {
        str(name): one
        for name, one in fields_in(inside).items()
        if isinstance(one, str | int | float) and one == one and one != ""
    }


def number_in(value: object) -> float | None:
    """Return a finite number, also from text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):  # the latter of a whole number of more than 308 digits
        return None
    return number if math.isfinite(number) else None


def amount_in(value: object) -> float | None:
    """Return seconds or dollars as records.figure_of does, also from text; None for anything else."""
    return figure_of(number_in(value))


def count_in(values: Mapping[str, Any], names: Iterable[str]) -> int | None:
    """Return the first count under one of these names, as records.count_of does, also from text."""
    counts = (count_of(number_in(values.get(name))) for name in names)
    return next((count for count in counts if count is not None), None)


def seconds_at(value: object) -> float | None:
    """Return a point in time in seconds since 1970: of a datetime, of ISO 8601, or of a number.

    Without a zone it is UTC. A number counts nanoseconds, microseconds, milliseconds or seconds, which its
    size tells: all that is traced happened after 1973. None where it is no date from year 1 to 9999.
    """
    if isinstance(value, str) and number_in(value) is None:
        try:
            value = datetime.fromisoformat(value.replace(" UTC", "+00:00"))
        except ValueError:
            return None
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    number = number_in(value)
    if number is None:
        return None
    seconds = next((number / unit for unit in (1e9, 1e6, 1e3) if number / unit > _1973), number)
    return seconds if _YEAR_1 <= seconds <= _YEAR_9999 else None


def seconds_between(begun: float | None, ended: float | None) -> float | None:
    """Return how long something took, to the microsecond and at least 0; None where an end is not known."""
    return None if begun is None or ended is None else figure_of(max(0.0, round(ended - begun, 6)))


def id_in(value: object) -> str | None:
    """Return an id as text; None for none, and for an empty one."""
    return str(value) if value else None


def scalar_in(value: object) -> bool | int | float | str | None:
    """Return a single value as it is, and an object or a list as JSON."""
    return value if value is None or isinstance(value, bool | int | float | str) else written(value)


_AS_GIVEN = ("arguments", "result", "value")  # attributes whose objects are what a tool was given or gave


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as objects in objects: `a.b.0.c` is c of the first of the list b of a.

    Of a name that is both a value and the beginning of others, what comes first stays.
    """
    tree: dict[str, Any] = {}
    for name, value in flat.items():
        if value is None or value != value:
            continue
        *parts, last = str(name).split(".")
        here = tree
        for part in parts:
            deeper = here.setdefault(part, {})
            here = deeper if isinstance(deeper, dict) else {}
        nests = isinstance(value, Mapping) and last not in _AS_GIVEN
        here.setdefault(last, nested(value) if nests else value)
    return {name: _listed(value, name) for name, value in tree.items()}


def _listed(value: Any, name: str = "") -> Any:
    if not isinstance(value, dict) or name in _AS_GIVEN:
        return value
    inside = {name: _listed(one, name) for name, one in value.items()}
    if inside and all(name.isdigit() for name in inside):
        return [inside[name] for name in sorted(inside, key=int)]
    return inside
