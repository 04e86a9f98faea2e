"""The crop table: arguments from the file's columns, names in several languages, filters, what is told."""

import csv
import sys
from pathlib import Path

import msgspec
import pyarrow
import pyarrow.parquet
import pytest
from tests.support.situations import observe

from farm_tools.crops import crops_tool
from ragstone.kernel.errors import ConfigError, MissingExtra
from ragstone_assistant.tool import Tool
from ragstone_assistant.tools.plain_text import MOST

SHIPPED = Path(__file__).parents[3] / "examples" / "assistant" / "crops.csv"
TABLE = """\
crop,name_es,name_hi,soil,region,root_depth_max_m,days,source,note
Maize,maíz|choclo,मक्का,loam,East Africa|Yemen,1.7,180,FAO-56,first
Maize,maíz|choclo,मक्का,loam,Spain,1.7,150,FAO-56,second
Winter wheat,trigo,गेहूँ,clay,Spain,1.8,,FAO-29,third
Spring wheat,trigo,गेहूँ,clay,East Africa,1.5,130,FAO-29,fourth
"""


@pytest.fixture
def table(tmp_path: Path) -> Tool:
    (tmp_path / "crops.csv").write_text(TABLE, encoding="utf-8")
    return crops_tool(tmp_path / "crops.csv")


@pytest.mark.parametrize("name", ["maize", "MAÍZ", "choclo", "मक्का", "Maize ", "maizes"])
async def test_a_crop_is_found_by_any_of_its_names(table, name, says):
    seen = await observe(table, crop=name)
    says(seen.text)


@pytest.mark.parametrize("name", ["wheat", "trigo", "गेहूँ"])
async def test_a_name_of_several_crops_means_all_of_them(table, name, says):
    seen = await observe(table, crop=name, property="root_depth_max_m")
    says(seen.text)


async def test_a_figure_that_the_table_does_not_have_is_said_to_be_missing(table, says):
    seen = await observe(table, crop="winter wheat", property="days")
    says(seen.text)


async def test_one_figure_is_told_with_what_tells_the_rows_apart(table, says):
    seen = await observe(table, crop="maize", property="days")
    says(seen.text)


async def test_a_cell_may_hold_several_values(table):
    seen = await observe(table, region="yemen", property="days")
    assert seen.text.splitlines()[0] == "Maize: days 180"


@pytest.mark.parametrize(
    ("ranges", "crops"),
    [
        ([{"column": "days", "at_most": 150}], ["Maize", "Spring wheat"]),
        ([{"column": "days", "at_least": 140, "at_most": 170}], ["Maize"]),
        ([{"column": "days", "at_least": 151}, {"column": "root_depth_max_m", "at_most": 1.7}], ["Maize"]),
        ([{"column": "root_depth_max_m", "at_least": 1.8}], ["Winter wheat"]),
    ],
)
async def test_conditions_on_figures_hold_together_and_unknown_figures_fit_none(table, ranges, crops):
    # days: 180, 150, unknown, 130; root depth: 1.7, 1.7, 1.8, 1.5
    seen = await observe(table, ranges=ranges, property="soil")
    assert [row.partition(":")[0] for row in seen.text.splitlines()[:-1]] == crops


async def test_nothing_that_fits_is_no_failure(table, says):
    seen = await observe(table, ranges=[{"column": "days", "at_least": 999}])
    assert not seen.failed
    says(seen.text)


async def test_an_unknown_crop_fails_with_the_nearest_name(table, says):
    seen = await observe(table, crop="miaze")
    assert seen.failed
    says(seen.text)
    says((await observe(table, crop="quinoa")).text)


async def test_a_misspelt_value_fails_with_the_nearest_one(table, says):
    seen = await observe(table, region="East Afrika")
    assert seen.failed
    says(seen.text)


@pytest.mark.parametrize(
    "given",
    [
        {"property": "yield"},
        {"ranges": [{"column": "soil", "at_least": 1}]},
        {"ranges": [{"column": "days; DROP TABLE crops", "at_least": 1}]},
        {"ranges": [{"column": "days", "at_least": "150"}]},
        {"sql": "SELECT 1"},
        {"source": "FAO-56"},
    ],
)
def test_what_is_no_column_is_refused_before_anything_is_asked(table, given):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, table.arguments)


@pytest.mark.parametrize("text", ["' OR 1=1 --", '"; DROP TABLE crops; --', "maize' UNION SELECT 1", "%"])
async def test_text_is_bound_and_never_becomes_sql(table, text):
    assert (await observe(table, crop=text)).failed
    assert (await observe(table, region=text)).failed
    assert not (await observe(table, crop="maize")).failed


async def test_odd_names_of_columns_and_text_that_would_end_a_turn_do_no_harm(tmp_path, says):
    path = tmp_path / "odd.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        head = ["crop", 'soil "type"', "class", "crop coefficient; x"]
        csv.writer(file).writerows([head, ["a<|im_end|>", "x", "1.", 2], ["b", "y", "z", 3]])
    tool = crops_tool(path)
    assert tool.arguments.__struct_fields__ == ("crop", "property", "soil_type", "class", "ranges")
    seen = await observe(tool, soil_type="x")
    says(seen.text)


async def test_few_rows_are_told_and_how_many_more_there_are(tmp_path, says):
    rows = "".join(f"crop{number},{number}\n" for number in range(50))
    (tmp_path / "many.csv").write_text(f"crop,days\n{rows}")
    seen = await observe(crops_tool(tmp_path / "many.csv"))
    says(seen.text)
    assert "crop19: days 19" in seen.text
    assert "crop20" not in seen.text


async def test_parquet_is_read_too_and_nan_is_no_figure(tmp_path, says):
    columns = {"name": ["Maize", "Rice"], "days": [120.0, float("nan")], "n": [1, 2], "sown": [True, False]}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "crops.parquet")
    tool = crops_tool(tmp_path / "crops.parquet")
    says((await observe(tool, crop="rice")).text)
    says((await observe(tool, ranges=[{"column": "days", "at_least": 0}])).text)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("crops.xlsx", b"x", "is no table"),
        ("crops.csv", None, "is not there"),
        ("crops.csv", b"crop,days\n", "must have rows"),
        ("crops.csv", b"days\n1\n", "a column of text"),
        ("crops.parquet", b"no parquet", "cannot be read as a table"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_of_the_settings(tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=words):
        crops_tool(tmp_path / name)


def test_a_missing_duckdb_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match=r"ragstone\[assistant\]"):
        crops_tool(SHIPPED)


async def test_the_shipped_table_answers_in_six_languages():
    tool = crops_tool(SHIPPED)
    texts = {
        (await observe(tool, crop=name, region="East Africa", property="growing_period_days")).text
        for name in ("corn", "maíz", "maïs", "मक्का", "الذرة", "mahindi")
    }
    assert texts == {"maize: growing period 180 days\nSources: FAO-56 tables 11, 12, 22; AquaCrop; FAO-29"}
    assert tool.doing.keys() == {"en", "es", "fr", "hi", "ar", "sw"}


def test_the_shipped_table_is_whole_and_within_bounds():
    with SHIPPED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["crop"] for row in rows}) >= 30
    stages = ("initial_stage_days", "development_stage_days", "mid_season_days", "late_season_days")
    for row in rows:
        assert all(row[f"name_{lang}"] for lang in ("es", "fr", "hi", "ar", "sw")), row["crop"]
        assert row["source"]
        assert float(row["root_depth_min_m"]) <= float(row["root_depth_max_m"])
        if row["growing_period_days"]:
            assert sum(int(row[stage]) for stage in stages) == int(row["growing_period_days"])


async def test_a_number_that_the_table_cannot_be_asked_for_fails_in_words(tmp_path):
    table = pyarrow.table({"crop": ["Maize"], "days": pyarrow.array([120], pyarrow.decimal128(5, 1))})
    pyarrow.parquet.write_table(table, tmp_path / "crops.parquet")
    tool = crops_tool(tmp_path / "crops.parquet")
    assert (await observe(tool, ranges=[{"column": "days", "at_least": 100.5}])).text == "Maize: days 120.0"
    seen = await observe(tool, ranges=[{"column": "days", "at_least": 1e300}])
    assert "Maize" not in seen.text


async def test_what_is_told_is_bounded():
    assert len((await observe(crops_tool(SHIPPED))).text) <= MOST


@pytest.mark.parametrize(
    ("question", "lang"),
    [
        ("When to plant maize in Nakuru?", "en"),
        ("¿Cuándo sembrar maíz en Nakuru?", "es"),
        ("Quand planter le maïs à Nakuru ?", "fr"),
        ("नकुरु में मक्का की बुवाई कब करें?", "hi"),
        ("متى أزرع الذرة في ناكورو؟", "ar"),
        ("Nipande mahindi lini Nakuru?", "sw"),
    ],
)
def test_a_time_of_planting_is_nearer_to_the_table_than_planting_is(
    table: Tool, question: str, lang: str
) -> None:
    assert table.hint is not None
    assert table.hint(question, lang).nearer > 0
    assert table.hint("How do I plant maize after beans?", "en").nearer == 0
    assert table.hint("How much nitrogen does maize need?", "en").nearer < 0
