"""A reply's type as the schema that endpoints are given, and back."""

import enum
from typing import Annotated, Literal

import msgspec
import pytest
from tests.support.doors import NONCE, Verdict

from ragstone.llm.schema import ReplyError, encoded_schema, fill_nonce, schema_of, validate


class Item(msgspec.Struct, frozen=True):
    id: int
    title: str = "untitled"
    description: str | None = None


class Listing(msgspec.Struct, frozen=True):
    """Says what it is for."""

    reason: str
    items: Annotated[list[Item], msgspec.Meta(max_length=3)]
    label: Literal["yes", "no"] = "no"


def test_the_root_is_an_object_and_every_object_is_closed_with_all_fields_required() -> None:
    schema = schema_of(Listing, False)
    assert schema["type"] == "object"
    for each in (schema, schema["$defs"]["Item"]):
        assert each["required"] == list(each["properties"])
        assert each["additionalProperties"] is False


def test_fields_named_title_or_description_stay_though_titles_and_descriptions_go() -> None:
    schema = schema_of(Listing, False)
    assert list(schema["$defs"]["Item"]["properties"]) == ["id", "title", "description"]
    assert "title" not in schema
    assert "description" not in schema
    assert "default" not in schema["properties"]["label"]


def test_reason_comes_before_score_and_the_nonce_before_both() -> None:
    assert list(schema_of(Verdict, True)["properties"]) == ["nonce", "reason", "score"]
    assert schema_of(Verdict, True)["properties"]["score"] == {"type": "integer", "minimum": 0, "maximum": 3}


def test_the_nonce_is_an_enum_of_one_member() -> None:
    filled = msgspec.json.decode(fill_nonce(encoded_schema(Verdict, True), NONCE))
    assert filled["properties"]["nonce"] == {"type": "string", "enum": [NONCE]}
    assert filled["required"][0] == "nonce"


def test_the_nonce_is_checked_and_is_no_field_of_the_value() -> None:
    right = {"nonce": NONCE, "reason": "r", "score": 1}
    assert validate(right, Verdict, NONCE) == Verdict("r", 1)
    for wrong in ({**right, "nonce": "x"}, {**right, "nonce": [NONCE]}, {"reason": "r", "score": 1}):
        with pytest.raises(ReplyError, match="nonce"):
            validate(wrong, Verdict, NONCE)


class TestPydantic:
    """A user's pydantic model as the reply's type."""

    @pytest.fixture
    def model(self) -> type:
        pydantic = pytest.importorskip("pydantic", reason="needs pydantic")

        class Crop(enum.Enum):
            MAIZE = "maize"
            RICE = "rice"

        fields = {"reason": (str, ...), "score": (int, pydantic.Field(ge=0, le=3)), "crop": (Crop, ...)}
        made: type = pydantic.create_model("Judged", **fields)
        return made

    def test_its_schema_is_closed_and_carries_the_nonce(self, model: type) -> None:
        schema = schema_of(model, True)
        assert list(schema["properties"]) == ["nonce", "reason", "score", "crop"]
        assert schema["required"] == ["nonce", "reason", "score", "crop"]
        assert schema["additionalProperties"] is False

    def test_it_validates_strictly(self, model: type) -> None:
        right = {"nonce": NONCE, "reason": "r", "score": 1, "crop": "rice"}
        value = validate(right, model, NONCE)
        assert (value.score, value.crop.value) == (1, "rice")
        for wrong in ({"score": "1"}, {"score": 4}, {"score": 1.5}, {"crop": "oats"}, {"nonce": "no"}):
            with pytest.raises(ReplyError):
                validate({**right, **wrong}, model, NONCE)
