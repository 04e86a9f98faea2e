"""JSON Schemas of anybody's tools -> structs: what is typed, what is left open, what is sent."""

import time

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone_assistant.tools._schema_struct import MOST_FIELDS, given_by, struct_of


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


NAMES = st.sampled_from(["a", "b", "class", "a-b", "__init__", "1", "", "मक्का", "x y"])
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(allow_nan=False), st.sampled_from("ab")
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object", "odd", 3])
SCHEMAS = st.recursive(
    st.one_of(
        st.builds(lambda one: {"type": one}, TYPES),
        st.builds(lambda many: {"type": many}, st.lists(TYPES, max_size=3)),
        st.builds(lambda many: {"enum": many}, st.lists(VALUES, max_size=4)),
        st.just({"$ref": "#/$defs/a"}),
        st.booleans(),
    ),
    lambda inner: st.one_of(
        st.builds(lambda one: {"type": "array", "items": one}, inner),
        st.builds(lambda many: {"anyOf": many}, st.lists(inner, max_size=3)),
        st.builds(
            lambda many, required: {"type": "object", "properties": many, "required": required},
            st.dictionaries(NAMES, inner, max_size=4),
            st.lists(NAMES, max_size=2),
        ),
    ),
    max_leaves=8,
)


@pytest.mark.long
@settings(max_examples=60)
@given(st.dictionaries(NAMES, SCHEMAS, max_size=4), SCHEMAS, st.lists(NAMES, max_size=3))
def test_any_schema_becomes_arguments_that_can_be_told_and_read(properties, definition, required):
    schema = {"type": "object", "properties": properties, "required": required, "$defs": {"a": definition}}
    struct = struct_of(schema, "tool", "Does.")
    msgspec.json.schema(struct)
    for given_ in (
        {},
        dict.fromkeys(properties),
        dict.fromkeys(properties, "a"),
        {name: {} for name in properties},
    ):
        try:
            sent = given_by(msgspec.convert(given_, struct))
        except msgspec.ValidationError:
            continue
        assert isinstance(sent, dict)
        assert sent.keys() <= properties.keys()


def test_a_schema_that_branches_at_every_level_is_made_in_time():
    node = {"type": "object", "properties": {f"f{n}": {"$ref": "#/$defs/a"} for n in range(40)}}
    struct = struct_of({**node, "$defs": {"a": node}}, "tool", "")
    assert len(struct.__struct_fields__) == 40


@pytest.mark.parametrize("n", [10_000, 20_000])
@pytest.mark.parametrize("inner", [False, True])
def test_a_schema_of_many_fields_makes_a_short_one_and_soon(n, inner):
    fields = {f"p{at}": {"type": "string", "description": "y" * 500} for at in range(n)}
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]} if inner else schema
    began = time.thread_time()
    made = struct_of(schema, "tool", "about")
    assert time.thread_time() - began < 1
    assert len(msgspec.json.encode(msgspec.json.schema(made))) < 20_000


@pytest.mark.parametrize(
    "many",
    [
        lambda n: {"anyOf": [{"type": "object", "properties": {f"p{at}": {}}} for at in range(n)]},
        lambda n: {"oneOf": [{"type": "array", "items": {"enum": [at]}} for at in range(n)]},
        lambda n: {"type": ["string"] * n},
        lambda n: {"enum": [str(at) for at in range(n)]},
    ],
    ids=["anyOf", "oneOf", "type", "enum"],
)
def test_a_field_of_thousands_of_alternatives_may_be_anything_and_soon(many):
    began = time.thread_time()
    made = struct_of({"type": "object", "properties": {"a": many(20_000)}, "required": ["a"]}, "tool", "")
    assert time.thread_time() - began < 1
    assert msgspec.convert({"a": [{"b": 1}]}, made) is not None
    assert len(msgspec.json.encode(msgspec.json.schema(made))) < 1_000
