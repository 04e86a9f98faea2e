"""Rows of the crop table -> what the user reads of them, in the user's language."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from farm_tools.crop_file import BETWEEN, Columns, Row, Value
from farm_tools.words import figures_asked, number, say, value_of, wording
from ragstone_assistant.tools.plain_text import bounded, line

# The end of a column's name -> the unit that it stands for; the longest that fits.
UNITS = {
    "_days": "days",
    "_c": "°C",
    "_m": "m",
    "_cm": "cm",
    "_mm": "mm",
    "_ds_m": "dS/m",
    "_percent": "%",
    "_kg_ha": "kg/ha",
    "_t_ha": "t/ha",
}
# What a question names -> the beginnings of the columns that hold it.
ASKED = {
    "roots": ("root_depth",),
    "water": ("crop_coefficient",),
    "period": ("growing_period",),
    "planting": ("planting",),
    "temperature": ("temperature",),
    "salinity": ("soil_salinity",),
}
LEAST, MOST = "_min", "_max"  # before the unit of two columns that are a range together
COEFFICIENT = "crop_coefficient"


class Figure(NamedTuple):
    """What a line tells: a column, or the two columns of a range; its name is without ends and units."""

    name: str
    columns: tuple[str, ...]


def columns_asked(columns: Columns, wanted: str | None, question: str, lang: str) -> list[str]:
    """Return the columns that the user asks for: the one that is wanted, else those that the question names,
    else all."""
    told = columns.told()
    if wanted is not None:
        return [wanted]
    begins = tuple(begin for name in figures_asked(question, lang) for begin in ASKED[name])
    return [name for name in told if begins and name.casefold().startswith(begins)] or told


def crops_told(
    columns: Columns, rows: Sequence[Row], told: Sequence[str], names: Mapping[str, str], lang: str
) -> str:
    """Return the rows in words: of each crop what all its rows share, then what each of them has besides.

    told: the columns that are asked for. names: of the crops, in the language. Ends with the source, where
    the file has one.
    """
    of_crop: dict[str, list[Row]] = {}
    for row in rows:
        of_crop.setdefault(str(row[columns.crop]), []).append(row)
    lines = [one for crop, own in of_crop.items() for one in _crop(names[crop], own, told, columns, lang)]
    if any(name.startswith(COEFFICIENT) for name in told) and len(told) < len(columns.told()):
        lines.append(say("kc_means", lang))
    if columns.source:
        named = dict.fromkeys(str(row[columns.source]) for row in rows if row[columns.source] is not None)
        lines += [say("sources", lang, sources=line(" / ".join(named), 400))] if named else []
    return bounded("\n".join(lines))


def column_told(column: str, lang: str) -> str:
    """Return what a column is called: in the language, where it is one of the table that ships."""
    bare = column[: len(column) - len(unit_of(column))]
    return wording(lang).columns.get(bare, bare.replace("_", " "))


def unit_of(column: str) -> str:
    """Return the end of a column's name that is a unit, "" where there is none."""
    return max((end for end in UNITS if column.casefold().endswith(end)), key=len, default="")


def _crop(name: str, rows: Sequence[Row], told: Sequence[str], columns: Columns, lang: str) -> list[str]:
    apart = [one for one in columns.told() if len({row[one] for row in rows}) > 1]
    shared = [one for one in told if one not in apart]
    # What tells the rows apart is said too, where it was not asked for: but no other figures.
    beside = [one for one in apart if one in told or one in columns.choices]
    lines = [f"- {one}" for one in _figures(rows[0], shared, lang)]
    if any(one in told for one in apart):
        lines += dict.fromkeys(f"- {'; '.join(_figures(row, beside, lang))}" for row in rows)
    head = f"{line(name, 80)}{_colon(lang)}"
    return [head, *lines] if lines else [f"{head} {say('no_figure', lang)}"]


def _figures(row: Row, names: Sequence[str], lang: str) -> list[str]:
    found: dict[str, list[str]] = {}
    for name in names:
        if row[name] is not None:
            found.setdefault(_ranged(name, names), []).append(name)
    return [_figure(name, [row[one] for one in own], own[0], lang) for name, own in found.items()]


def _ranged(name: str, names: Sequence[str]) -> str:
    """Return a column's name without `_min` or `_max`, where both are there."""
    unit = unit_of(name)
    bare = name[: len(name) - len(unit)]
    for end, other in ((LEAST, MOST), (MOST, LEAST)):
        if bare.endswith(end) and bare.removesuffix(end) + other + unit in names:
            return bare.removesuffix(end) + unit
    return name


def _figure(name: str, values: Sequence[Value], column: str, lang: str) -> str:
    shown = list(dict.fromkeys(_value(value, lang) for value in values))
    told = say("between", lang, low=shown[0], high=shown[1]) if len(shown) == 2 else shown[0]
    unit = UNITS.get(unit_of(column), "") if _is_number(values[0]) else ""
    told = say("days", lang, value=told) if unit == "days" else f"{told} {unit}".rstrip()
    return f"{column_told(name, lang)}{_colon(lang)} {told}"


def _colon(lang: str) -> str:
    return " :" if lang == "fr" else ":"


def _value(value: Value, lang: str) -> str:
    if isinstance(value, float):
        return number(value, lang)
    if _is_number(value):
        return str(value).replace(".", wording(lang).decimal)
    return line(", ".join(value_of(part.strip(), lang) for part in str(value).split(BETWEEN)), 200)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
