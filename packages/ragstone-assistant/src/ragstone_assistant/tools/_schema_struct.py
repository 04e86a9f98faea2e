"""A tool's JSON Schema from elsewhere -> a struct of arguments that a model can be held to."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union

import msgspec

from ragstone_assistant.tools.plain_text import bounded, line

MOST_FIELDS = 40
MOST_REQUIRED = 200  # of an object with more, any object will do
DEEPEST = 6  # objects within objects; below it, and where a schema refers to itself, any object will do
MOST_DESCRIBED = 300
MOST_CHOICES = 60

Node = Mapping[str, Any]
Kind = object
"""What stands in an annotation: a type, a union, a Literal."""

PLAIN: dict[str, Kind] = {"string": str, "integer": int, "number": float, "boolean": bool, "null": None}
ANYTHING: Kind = str | int | float | bool | list[Any] | dict[str, Any] | None


class _Whole(msgspec.Struct):
    """A schema, the types that were made of its parts by reference and depth, each once, and their names:
    msgspec tells no schema of types of which two have one name.
    """

    root: Node
    made: dict[tuple[str, int], Kind]
    names: set[str]


def struct_of(schema: Node, name: str, description: str) -> type[msgspec.Struct]:
    """Return the struct of an object's schema; its fields' own names are those of the schema.

    Objects, enums, arrays, unions with null and local references are typed, an object without properties is a
    dict, and what cannot be typed is any JSON. Limits of lengths and numbers are left to the server. Fields
    that are not required may be null, and are then not sent (see given_by). Of an object with more than
    MOST_FIELDS fields those that are not required are left out from there on; one that requires more than
    MOST_REQUIRED has no fields, and the server says what it misses.
    """
    kind = _struct(schema, _Whole(schema, {}, set()), name, DEEPEST, description)
    return kind if isinstance(kind, type) else _defined(name, [], {}, description)


def given_by(arguments: object) -> object:
    """Return arguments as they are sent: fields by the schema's names, but those that are null for none."""
    if isinstance(arguments, msgspec.Struct):
        return {
            field.encode_name: given_by(value)
            for field in msgspec.structs.fields(arguments)
            if (value := getattr(arguments, field.name)) is not None or field.required
        }
    if isinstance(arguments, list):
        return [given_by(item) for item in arguments]
    return arguments


def _struct(node: Node, whole: _Whole, name: str, depth: int, description: str = "") -> Kind:
    """Return the struct of an object, or the type of a dict where there is nothing to type it by."""
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or not properties or not depth:
        return dict[str, Any]
    listed = node.get("required")
    required = (
        {required_name for required_name in listed if isinstance(required_name, str)}
        if isinstance(listed, list)
        else set()
    )
    if len(required) > MOST_REQUIRED:
        return dict[str, Any]
    fields: list[Any] = []
    renamed: dict[str, str] = {}
    for own, inner in properties.items():
        if len(fields) >= MOST_FIELDS and own not in required:
            continue
        field = _identifier(own, renamed)
        renamed[field] = str(own)
        kind: Any = _kind(inner, whole, f"{name}_{field}", depth - 1)
        if own in required:
            fields.append((field, _described(kind, inner)))
        else:
            fields.append((field, _described(Union[kind, None], inner), None))  # noqa: UP007 - a value
    return _defined(_own_name(name, whole.names), fields, renamed, description)


def _own_name(name: str, taken: set[str]) -> str:
    title = "".join(part.title() for part in name.split("_"))
    own, number = title, 2
    while own in taken:
        own, number = f"{title}{number}", number + 1
    taken.add(own)
    return own


def _defined(name: str, fields: list[Any], renamed: dict[str, str], description: str) -> type[msgspec.Struct]:
    return msgspec.defstruct(
        name,
        fields,
        namespace={"__doc__": description} if description else None,
        rename=renamed,
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )


def _kind(node: object, whole: _Whole, name: str, depth: int) -> Kind:
    """Return the type of a value that fits a schema, and of many values that do not."""
    if not isinstance(node, Mapping):
        return ANYTHING
    if "$ref" in node:
        return _kind_referred(str(node["$ref"]), whole, name, depth)
    choices = node.get("enum", [node["const"]] if "const" in node else None)
    if choices is not None:
        return _chosen(choices)
    declared = node.get("type")
    unions = [option for option in (node.get("anyOf"), node.get("oneOf")) if isinstance(option, list)]
    if not unions and isinstance(declared, list):
        unions = [[{**node, "type": option} for option in declared[: MOST_CHOICES + 1]]]
    if unions:
        is_long = len(unions[0]) > MOST_CHOICES
        return ANYTHING if is_long else _together([_kind(option, whole, name, depth) for option in unions[0]])
    if declared == "array":
        inner: Any = _kind(node.get("items", {}), whole, name, depth)
        return list[inner]
    if declared == "object":
        return _struct(node, whole, name, max(0, depth))
    return PLAIN.get(str(declared), ANYTHING) if declared is not None else ANYTHING


def _kind_referred(reference: str, whole: _Whole, name: str, depth: int) -> Kind:
    if depth <= 0:
        return dict[str, Any]
    key = (reference, depth)
    if key not in whole.made:
        whole.made[key] = dict[str, Any]  # for a reference to itself without an object between
        whole.made[key] = _kind(_referred(reference, whole.root), whole, name, depth - 1)
    return whole.made[key]


def _together(kinds: list[Kind]) -> Kind:
    """Return the union of types; anything, where a value's own type does not say which of them it is."""
    try:
        union: Any = Union[tuple(kinds)]  # noqa: UP007 - it is made from a list
        msgspec.json.Decoder(union)
    except TypeError:
        return ANYTHING
    return union


def _chosen(choices: object) -> Kind:
    """Return the type of one of these values; null among them may be given too."""
    if not isinstance(choices, list) or not choices or len(choices) > MOST_CHOICES:
        return ANYTHING
    values = [choice for choice in choices if isinstance(choice, str | int) and not isinstance(choice, bool)]
    if not values or len(values) < len([choice for choice in choices if choice is not None]):
        return ANYTHING
    kind: Any = Literal[tuple(values)]
    return Union[kind, None] if None in choices else kind  # noqa: UP007 - a value


def _described(kind: Kind, node: object) -> Kind:
    text = node.get("description") if isinstance(node, Mapping) else None
    if not isinstance(text, str) or not text.strip():
        return kind
    short = bounded(line(text, MOST_DESCRIBED), MOST_DESCRIBED + 20)
    return Annotated[kind, msgspec.Meta(description=short)]


def _referred(reference: str, root: Node) -> object:
    """Return what a reference within the schema names, {} where it names nothing there."""
    node: object = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        node = node.get(part.replace("~1", "/").replace("~0", "~"), {}) if isinstance(node, Mapping) else {}
    return node


def _identifier(name: object, taken: Mapping[str, str]) -> str:
    """Return a field's name that Python and msgspec take, none of those that are taken."""
    plain = re.sub(r"\W+", "_", str(name)).strip("_") or "field"
    plain = plain if plain.isidentifier() else f"field_{plain}"
    while plain in taken:
        plain += "_"
    return plain
