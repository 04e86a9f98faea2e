"""The crops of the shipped table and the tags of the shipped assistant name the same."""

import csv
from pathlib import Path

import pytest

from farm_tools.crop_file import open_crop_file
from ragstone.kernel.corpus.tags import load_tags, match_tags, with_general

SHIPPED = Path(__file__).parents[3] / "examples" / "assistant"
CROP = next(tag for tag in load_tags(SHIPPED / "tags.toml") if tag.key == "crop")
# Names that are another word in one of the six languages: a text with them is not about the crop.
OTHER_WORDS = {"ail", "chai", "col", "gram", "lin", "mil", "oti", "tango"}
SEVERAL = {"गेहूँ": "wheat", "गेहूं": "wheat", "ngano": "wheat"}  # names of two crops of the table


def names() -> dict[str, set[str]]:
    """Return every name of the table -> the crops that have it."""
    found: dict[str, set[str]] = {}
    with (SHIPPED / "crops.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cells = [row["crop"], *(cell for column, cell in row.items() if column.startswith("name_"))]
            for name in (name.strip() for cell in cells for name in cell.split("|")):
                if name:
                    found.setdefault(name, set()).add(row["crop"])
    return found


def _with_kinds(crops: set[str]) -> list[str]:
    return [value for value in CROP.values if value in with_general(crops, CROP)]


def test_every_name_of_the_table_is_tagged_as_its_crop():
    tagged = {name: match_tags(name, [CROP])["crop"] for name in names() if name not in OTHER_WORDS}
    assert tagged == {
        name: [SEVERAL[name]] if name in SEVERAL else _with_kinds(crops)
        for name, crops in names().items()
        if name not in OTHER_WORDS
    }


def test_what_is_tagged_is_found_in_the_table_as_the_same_crop():
    table = open_crop_file(SHIPPED / "crops.csv")
    crops = {crop for own in names().values() for crop in own}
    for value in CROP.values:
        if value in crops:
            assert table.crops_called(value) == [value]
    assert table.crops_called("wheat") == ["spring wheat", "winter wheat"]


@pytest.mark.parametrize(
    ("text", "crops"),
    [
        ("गेहूँ की सिंचाई कब करें?", {"wheat"}),
        ("Ngano inahitaji maji kiasi gani?", {"wheat"}),
        ("winter wheat in the boot stage", {"winter wheat", "wheat"}),
        ("كيف أسقي الطماطم والقمح؟", {"wheat", "tomato"}),
        ("mtama na mihogo", {"cassava", "sorghum"}),
        ("¿Zanahorias o papas?", {"carrot", "potato"}),
        ("My chickens have orange spots", set()),
        ("available for both Apple and Android products", set()),
        ("How much urea for my apples?", {"apple tree"}),
        ("Combien d'eau pour mes choux et mes pommes de terre ?", {"cabbage", "potato"}),
    ],
)
def test_documents_and_questions_are_tagged_with_articles_and_other_endings(text, crops):
    assert set(match_tags(text, [CROP])["crop"]) == crops
