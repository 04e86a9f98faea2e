"""JSON Schemas of anybody's tools -> structs: what is typed, what is left open, what is sent."""

import msgspec
import pytest

from ragstone.assistant.tools.schema_struct import MOST_FIELDS, given_by, struct_of


def takes(node: object, value: object, required: bool = True) -> bool:
    """Return whether the struct of an object with a field x of this schema takes this value."""
    schema = {"type": "object", "properties": {"x": node}, "required": ["x"] if required else []}
    try:
        msgspec.convert({"x": value}, struct_of(schema, "tool", "Does."))
    except msgspec.ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    ("node", "good", "bad"),
    [
        ({"type": "string"}, ["a"], [1, None]),
        ({"type": "integer"}, [1], ["1", 1.5]),
        ({"type": "number"}, [1, 1.5], ["1"]),
        ({"type": "boolean"}, [True], [1]),
        ({"enum": ["a", "b"]}, ["a"], ["c", None]),
        ({"enum": ["a", None]}, ["a", None], ["c"]),
        ({"const": "a"}, ["a"], ["b"]),
        ({"enum": [1.5, "a"]}, [1.5, "z"], []),
        ({"type": "array", "items": {"type": "integer"}}, [[1], []], [["a"], 1]),
        ({"type": "array"}, [[1, "a", {}]], [1]),
        ({"type": ["string", "null"]}, ["a", None], [1]),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, [1, None], ["a"]),
        ({"oneOf": [{"type": "array", "items": {"type": "string"}}, {"type": "array"}]}, [["a"], "x"], []),
        ({"type": "object"}, [{"a": 1}], [1]),
        (
            {"type": "object", "properties": {"y": {"type": "integer"}}, "required": ["y"]},
            [{"y": 1}],
            [{}, {"z": 1}],
        ),
        ({}, [1, "a", None, [], {}], []),
        (True, [1, "a"], []),
        ({"type": "strange"}, [1, "a"], []),
        ({"$ref": "#/nowhere"}, [1, "a"], []),
    ],
)
def test_a_schema_takes_what_fits_it(node, good, bad):
    assert [value for value in good if not takes(node, value)] == []
    assert [value for value in bad if takes(node, value)] == []


def test_what_is_not_required_may_be_null_and_is_then_not_sent():
    schema = {
        "type": "object",
        "properties": {
            "user-id": {"type": "string"},
            "from": {"type": "integer"},
            "class": {"type": ["string", "null"]},
            "filters": {
                "type": "array",
                "items": {"type": "object", "properties": {"a b": {"type": "integer"}}},
            },
        },
        "required": ["user-id", "class"],
    }
    struct = struct_of(schema, "tool", "Does.")
    given = msgspec.convert(
        {"user-id": "u", "class": None, "from": None, "filters": [{"a b": 1}, {}]}, struct
    )
    assert given_by(given) == {"user-id": "u", "class": None, "filters": [{"a b": 1}, {}]}
    assert struct.__doc__ == "Does."


def test_references_are_followed_and_one_to_itself_ends_in_any_object():
    node = {"type": "object", "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/Node"}}}
    schema = {"type": "object", "properties": {"list": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    struct = struct_of(schema, "tool", "")
    msgspec.convert({"list": {"value": 1, "next": {"value": 2}}}, struct)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"list": {"value": "a"}}, struct)


@pytest.mark.parametrize(
    "schema", [{}, {"type": "object"}, {"properties": 3}, {"type": "object", "properties": {}}]
)
def test_a_tool_without_arguments_takes_none(schema):
    assert given_by(msgspec.convert({}, struct_of(schema, "tool", "Does."))) == {}
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"x": 1}, struct_of(schema, "tool", "Does."))


def test_names_that_read_alike_stay_apart_and_many_fields_are_cut():
    properties = {"a-b": {"type": "integer"}, "a_b": {"type": "integer"}, "1": {"type": "integer"}}
    struct = struct_of({"type": "object", "properties": properties}, "tool", "")
    assert struct.__struct_fields__ == ("a_b", "a_b_", "field_1")
    assert given_by(msgspec.convert({"a-b": 1, "a_b": 2, "1": 3}, struct)) == {"a-b": 1, "a_b": 2, "1": 3}
    many = {f"f{n}": {"type": "integer"} for n in range(100)}
    cut = struct_of({"type": "object", "properties": many, "required": ["f99"]}, "tool", "")
    assert len(cut.__struct_fields__) == MOST_FIELDS + 1
    assert cut.__struct_fields__[-1] == "f99"


def test_descriptions_are_made_plain_and_cut():
    node = {"type": "string", "description": "x" * 5000 + "\n<|im_end|>"}
    field = msgspec.structs.fields(struct_of({"properties": {"x": node}, "required": ["x"]}, "tool", ""))[0]
    assert len(field.type.__metadata__[0].description) < 330
