"""The plan by which columns become fields."""

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.records import Answer, Question
from ragstone.kernel.tables.columns import (
    NULL_ANSWER,
    SHAPES,
    as_contexts,
    field_of,
    known_columns,
    plan_columns,
    to_canonical,
)
from ragstone.kernel.tables.names import ALIASES, accepted_names, fields_of, fold


@pytest.mark.parametrize("kind", ALIASES, ids=lambda kind: kind.__name__)
def test_no_column_goes_to_two_fields(kind: type) -> None:
    fields = {*fields_of(kind), *ALIASES[kind]}
    names = Counter(name for field in fields for name in {fold(name) for name in accepted_names(kind, field)})
    assert [name for name, n in names.items() if n > 1] == []
    assert known_columns(kind).keys() == names.keys()


@pytest.mark.parametrize("kind", ALIASES, ids=lambda kind: kind.__name__)
def test_columns_of_ours_are_read_as_themselves(kind: type) -> None:
    assert [field_of(field, kind) for field in fields_of(kind)] == [*fields_of(kind)]
    raw = dict.fromkeys(fields_of(kind))
    assert plan_columns(raw, kind).fields == {field: (field,) for field in raw}
    assert plan_columns(raw | {"other": 1}, kind).fields == plan_columns(raw, kind).fields


def by_definition(raw: dict[str, Any]) -> dict[str, Any]:
    """Field by field, the first name with a value wins: slow and plain."""
    row: dict[str, Any] = {}
    used = set()
    for field in fields_of(Answer):
        for name in accepted_names(Answer, field):
            value = raw.get(name)
            if value is None or value != value:
                continue
            shaped = SHAPES.get(field, lambda value: value)(value)
            if shaped is not None:
                row[field] = shaped
                used.add(name)
                break
    own = fields_of(Answer)
    rest = {k: v for k, v in raw.items() if k not in used and k not in own and v is not None and v == v}
    rest = {k: v for k, v in rest.items() if v != "" or fold(k) not in known_columns(Answer)}
    if "answer" not in row and "answer" in {field_of(name, Answer) for name in raw}:
        row |= {"answer": "", "error": NULL_ANSWER}
    return row | ({"metadata": row.get("metadata", {}) | rest} if rest else {})


NAMES = st.sampled_from([name for field in fields_of(Answer) for name in accepted_names(Answer, field)])
PLAIN = st.one_of(
    st.none(), st.just(float("nan")), st.text(max_size=2), st.lists(st.text(max_size=1), max_size=2)
)
VALUES = dict.fromkeys(("reference", "references", "ground_truth", "expected", "contexts", "context"), PLAIN)
TEXTS = {
    name: st.one_of(st.none(), st.text(max_size=2))
    for name in (
        "id",
        "qid",
        "query",
        "input",
        "answer",
        "response",
        "output",
        "system",
        "model",
        "extra",
        "",
    )
}


@given(st.fixed_dictionaries({}, optional=VALUES | TEXTS), st.randoms())
def test_looking_columns_up_gives_what_searching_for_them_gives(
    raw: dict[str, Any], order: random.Random
) -> None:
    shuffled = list(raw.items())
    order.shuffle(shuffled)
    assert to_canonical(dict(shuffled), Answer) == by_definition(raw)


def test_contexts_whose_tool_counts_them_have_texts_as_ids(says) -> None:
    plain, other = {"text": "a", "id": 7}, {"content": "b", "document_id": 8, "score": 0.5}
    assert as_contexts([plain, other]) == [
        {"text": "a", "id": "7"},
        {"text": "b", "document_id": "8", "score": 0.5},
    ]
    with pytest.raises(TypeError) as error:
        as_contexts([{"text": "a", "id": True}])
    says(error.value)


@pytest.mark.parametrize(
    ("beside", "reference"),
    [
        ({}, "a hen"),  # a table of questions and their answers
        ({"answers": []}, "a hen"),
        ({"reference": ""}, None),
        ({"ground_truth": None}, None),
        ({"Expected Answer": ""}, None),
        ({"system": "mine"}, None),  # a line of JSONL leaves out what it has not
        ({"reference": "a goose", "system": "mine"}, "a goose"),
        ({"system": "You know birds. Answer in one word."}, "a hen"),  # a prompt is no system that answered
    ],
)
def test_what_a_system_answered_is_no_reference(beside: dict[str, Any], reference: str | None) -> None:
    row = to_canonical({"question": "Which bird?", "answer": "a hen", **beside}, Question)
    assert row.get("reference") == reference
    assert (row.get("metadata", {}).get("answer") == "a hen") == (reference != "a hen")
