"""The type of a reply -> the JSON Schema that the model is held to; and its text -> the one reply in it.

What a type declares and what is sent of it differ. Sent is one schema for all rows, of the few keywords that
every strict mode takes (docs/reference/model-calls.md has it): no bounds, and nothing of the row, its nonce
included. Both are checked here, when the reply is read.

What comes back is never a guess. Models wrap JSON in prose, in fences and in `<think>` blocks, and quote the
text under test, which may itself hold JSON. So every object of the reply is looked at, and it must be clear
which one is meant: several that differ, or one that is cut off beside a whole one, fail closed.
"""

import functools
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

NONCE_SLOT = "nonce-of-the-row"
UNBINDING = frozenset({"title", "description", "default"})
# What OpenAI's, Anthropic's, Gemini's and vLLM's strict modes all take: tests/kernel/llm/strict_modes.toml.
KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "$ref", "$defs"}
    | {"description"}
)
# What one of them refuses, and what can be checked in the reply instead.
CHECKED_BY_US = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"minLength", "maxLength", "pattern", "format", "contentEncoding"}
    | {"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"}
    | {"examples", "discriminator"}
)
MOST_LISTED = 21  # whole numbers of a scale that are listed, since its bounds are not sent
NONCE_FIELD = {"type": "string", "description": "the code that the user's message ends with"}
HALF_A_PAIR = re.compile("[\ud800-\udfff]")
# Between quotes a tag is spoken of: "A `<think>` block is left out".
_OPENED, _CLOSED = (
    rf"(?:(?<![`\"']){tag}|{tag}(?![`\"']))" for tag in ("<think(?:ing)?>", "</think(?:ing)?>")
)
THINK = re.compile(rf"{_OPENED}.*?(?:{_CLOSED}|\Z)", re.DOTALL)
# Some chat templates open the block themselves, so that the reply only closes it.
UNOPENED_THINK = re.compile(rf"\A.*{_CLOSED}", re.DOTALL)
MOST_BROKEN = 100  # a reply of nothing but opening braces must not cost seconds
MOST_OBJECTS = 1000  # nor one of nothing but empty objects


class ReplyError(ValueError):
    """A reply that is not what was asked for; the message is fit to be sent back to the model."""


@functools.lru_cache(maxsize=256)
def schema_of(reply: type, with_nonce: bool) -> dict[str, Any]:
    """Return all that a reply type declares: an object whose fields are all required, no others allowed.

    with_nonce: a first field `nonce` is added, an `enum` of one member, NONCE_SLOT: so the keys of the ledger
    have it since its first version. A pydantic model is accepted without our depending on pydantic.
    """
    if hasattr(reply, "model_json_schema"):
        schema: dict[str, Any] = reply.model_json_schema()
    else:
        (ref,), definitions = msgspec.json.schema_components([reply], ref_template="#/$defs/{name}")
        # Strict endpoints want an object at the root, not a reference to one.
        root = definitions.pop(str(ref.get("$ref", "")).rpartition("/")[2], ref)
        schema = {**root, "$defs": definitions} if definitions else dict(root)
    schema = _closed(schema)
    return add_nonce(schema, {"type": "string", "enum": [NONCE_SLOT]}, with_nonce)


@functools.lru_cache(maxsize=256)
def encoded_schema(reply: type, with_nonce: bool) -> bytes:
    """Return what a type declares as JSON, once for each type: a part of the ledger's key, never sent."""
    return msgspec.json.encode(schema_of(reply, with_nonce))


@functools.lru_cache(maxsize=256)
def sent_schema(reply: type, with_nonce: bool) -> bytes:
    """Return the schema that a model is held to, as JSON: the same for all rows, of KEYWORDS alone.

    What users' own types have beyond those, and what cannot be left to the reader, stays as it is: an
    endpoint that refuses it is asked in another way.
    """
    return msgspec.json.encode(add_nonce(_strict(schema_of(reply, False)), NONCE_FIELD, with_nonce))


def add_nonce(schema: dict[str, Any], field: dict[str, Any], with_nonce: bool = True) -> dict[str, Any]:
    """Return the schema with this first field `nonce`, or without one."""
    if not with_nonce:
        return schema
    properties = {"nonce": field, **schema["properties"]}
    return schema | {"properties": properties, "required": ["nonce", *schema["required"]]}


def _strict(node: Any) -> Any:
    """Return the schema without what CHECKED_BY_US names; a short scale of whole numbers is listed."""
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    renamed = {{"oneOf": "anyOf"}.get(key, key): value for key, value in node.items()}
    strict = {key: _strict(value) for key, value in renamed.items() if key not in CHECKED_BY_US}
    for table in ("properties", "$defs"):  # their keys are names of fields and types, whatever they read
        if table in node:
            strict[table] = {name: _strict(inner) for name, inner in node[table].items()}
    if "const" in strict:
        strict["enum"] = [strict.pop("const")]
    low, high = node.get("minimum"), node.get("maximum")
    if node.get("type") == "integer" and low is not None and high is not None and high - low < MOST_LISTED:
        strict["enum"] = list(range(low, high + 1))
    return strict


def validate(fields: dict[str, Any], reply: type, nonce: str | None) -> Any:
    """Return the decoded object as the reply type. Raises ReplyError for the wrong nonce or shape."""
    if nonce is not None:
        if fields.get("nonce") != nonce:
            raise ReplyError(f'the field "nonce" must be {nonce!r}')
        fields = {name: value for name, value in fields.items() if name != "nonce"}
    try:
        if hasattr(reply, "model_validate_json"):
            # From JSON: pydantic's strict mode takes an enum's or a date's text only where it knows of JSON.
            return reply.model_validate_json(msgspec.json.encode(fields), strict=True)
        return msgspec.convert(fields, reply)
    except ValueError as mistake:  # msgspec.ValidationError and pydantic's are both of this kind
        raise ReplyError(str(mistake)) from None


def _closed(node: Any) -> Any:
    """Return the schema with every object closed and all its fields required, as strict endpoints demand.

    Titles, descriptions and defaults say nothing that binds, and some endpoints refuse them.
    """
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    closed = {key: _closed(value) for key, value in node.items() if key not in UNBINDING}
    for table in ("properties", "$defs"):  # their keys are names of fields and types, whatever they read
        if table in node:
            closed[table] = {name: _closed(inner) for name, inner in node[table].items()}
    if "properties" in node:
        closed |= {"required": list(node["properties"]), "additionalProperties": False}
    return closed


def parse_reply(text: str, reply: type, nonce: str | None) -> Any:
    """Return the reply as a value of its type.

    Raises ReplyError when there is no valid object, or when it is not clear which one is meant.
    """
    whole = _whole(text)
    if whole is not None:
        return validate(whole, reply, nonce)
    spoken = without_thought(text)
    if not spoken:
        raise ReplyError(
            "the reply is all thought and says nothing" if text.strip() else "the reply is empty"
        )
    objects = list(_objects(spoken, nonce))
    if nonce is not None:
        # Only what carries the nonce is the model speaking; all of it must be whole.
        claims = re.findall(rf'"nonce"\s*:\s*"{re.escape(nonce)}"', spoken)
        objects = [item for item in objects if item.get("nonce") == nonce] or objects
        if len(claims) > len(objects):
            raise ReplyError("the reply holds a JSON object that is broken or cut off; give exactly one")
    return _the_one(objects, text, reply, nonce)


def without_thought(text: str) -> str:
    """Return what a model says, without the `<think>` blocks in it."""
    return (UNOPENED_THINK.sub("", THINK.sub("", text)) if "think" in text else text).strip()


def _the_one(objects: list[dict[str, Any]], text: str, reply: type, nonce: str | None) -> Any:
    """Return the valid object among these. Raises ReplyError when there is none, or two that differ."""
    valid: list[Any] = []
    excerpt = text if len(text) <= 80 else text[:77] + "..."
    mistake = None if objects else ReplyError(f"no JSON object in the reply {excerpt!r}")
    for item in objects:
        try:
            value = validate(item, reply, nonce)
        except ReplyError as wrong:
            mistake = wrong
        else:
            valid += [] if value in valid else [value]
    if mistake is not None and (nonce is not None or not valid):
        raise mistake
    if len(valid) > 1:
        raise ReplyError("the reply holds several JSON objects that disagree; give exactly one")
    return valid[0]


def _whole(text: str) -> dict[str, Any] | None:
    """Return the object that the text is, or None if it is anything else."""
    text = text.strip()
    if not text.startswith("{"):
        return None
    try:
        value, end = DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if end == len(text) else None


def _objects(text: str, nonce: str | None) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects of a text, in order.

    What stands inside or beside a broken one may be a quotation. It is looked at only where a nonce
    proves whose words it is; without one, a broken object raises ReplyError.
    """
    position, n_broken, n_found = text.find("{"), 0, 0
    while position != -1:
        try:
            value, end = DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as mistake:
            n_broken += 1
            if nonce is None or n_broken > MOST_BROKEN:
                raise ReplyError(f"the JSON in the reply is broken or cut off ({mistake})") from None
            end = position + 1
        else:
            n_found += 1
            if n_found > MOST_OBJECTS:
                raise ReplyError(f"the reply holds more than {MOST_OBJECTS} JSON objects; give exactly one")
            yield value
        position = text.find("{", end)


def _reject(name: str) -> Any:
    raise ReplyError(f"{name} is no JSON value")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = {name: _writable(value) for name, value in pairs}
    if len(fields) < len(pairs):
        raise ReplyError("a field is given twice")
    return fields


def _writable(value: Any) -> Any:
    r"""Return the value with U+FFFD for half a surrogate pair: `\ud83d` can be said, but no file holds it."""
    if isinstance(value, str):
        return value if value.isascii() else HALF_A_PAIR.sub("\ufffd", value)
    return [_writable(item) for item in value] if isinstance(value, list) else value


# Not strict: a line break inside a string is what small models write, and it changes no meaning.
DECODER = json.JSONDecoder(strict=False, parse_constant=_reject, object_pairs_hook=_unique)
