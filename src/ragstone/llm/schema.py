"""A reply's type -> the JSON Schema that the model is held to, and the check of what comes back."""

import functools
from typing import Any

import msgspec

NONCE_SLOT = "nonce-of-the-row"
UNBINDING = frozenset({"title", "description", "default"})


class ReplyError(ValueError):
    """A reply that is not what was asked for; the message is fit to be sent back to the model."""


@functools.lru_cache(maxsize=256)
def schema_of(reply: type, with_nonce: bool) -> dict[str, Any]:
    """Return the JSON Schema of a reply type: an object whose fields are all required, no others allowed.

    with_nonce: a first field `nonce` is added, an `enum` of one member that stands for NONCE_SLOT.
    A pydantic model is accepted without our depending on pydantic.
    """
    if hasattr(reply, "model_json_schema"):
        schema: dict[str, Any] = reply.model_json_schema()
    else:
        (ref,), definitions = msgspec.json.schema_components([reply], ref_template="#/$defs/{name}")
        # Strict endpoints want an object at the root, not a reference to one.
        root = definitions.pop(str(ref.get("$ref", "")).rpartition("/")[2], ref)
        schema = {**root, "$defs": definitions} if definitions else dict(root)
    schema = _closed(schema)
    if with_nonce:
        nonce = {"type": "string", "enum": [NONCE_SLOT]}
        schema["properties"] = {"nonce": nonce, **schema["properties"]}
        schema["required"] = ["nonce", *schema["required"]]
    return schema


@functools.lru_cache(maxsize=256)
def encoded_schema(reply: type, with_nonce: bool) -> bytes:
    """Return the schema as JSON, once for each type: the nonce is spliced in by fill_nonce."""
    return msgspec.json.encode(schema_of(reply, with_nonce))


def fill_nonce(schema: bytes, nonce: str | None) -> bytes:
    """Return the encoded schema with this row's nonce in its place."""
    return schema.replace(NONCE_SLOT.encode(), nonce.encode()) if nonce else schema


def validate(found: dict[str, Any], reply: type, nonce: str | None) -> Any:
    """Return the decoded object as the reply type. Raises ReplyError for the wrong nonce or shape."""
    if nonce is not None:
        if found.get("nonce") != nonce:
            raise ReplyError(f'the field "nonce" must be {nonce!r}')
        found = {name: value for name, value in found.items() if name != "nonce"}
    try:
        if hasattr(reply, "model_validate_json"):
            # From JSON: pydantic's strict mode takes an enum's or a date's text only where it knows of JSON.
            return reply.model_validate_json(msgspec.json.encode(found), strict=True)
        return msgspec.convert(found, reply)
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
