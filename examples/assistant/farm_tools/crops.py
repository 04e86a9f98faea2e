"""The tool `crop_table`: typed filters on a file of crops -> its rows in words."""

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from farm_tools.crop_file import (
    BETWEEN,
    Columns,
    Condition,
    CropFile,
    Row,
    Value,
    folded,
    open_crop_file,
)
from farm_tools.crops_told import UNITS, column_told, columns_asked, crops_told, unit_of
from farm_tools.words import figures_asked, say, speaks_of
from ragstone.kernel.config.section import Section
from ragstone.kernel.errors import DataError
from ragstone_assistant.tool import Hint, Observation, Situation, Tool, ToolSetup
from ragstone_assistant.tools.plain_text import bounded, failed, line

MOST_ROWS = 20
LOOKED_BACK = 3  # turns of the user: "And for wheat?" asks for the same figure as the turn before it
FIGURED = (
    0.04  # of cosine similarity: what a word for one of these figures counts, and the lack of any figure
)
NAMED_FIGURES = ("roots", "salinity")
SHOWN_VALUES = 12  # of a column, where the model is told what there is
EXAMPLES = (
    "How deep do the roots of maize grow?",
    "How many days does sorghum need until harvest?",
    "Which crops tolerate salty soil?",
    "When is wheat sown in East Africa?",
    "¿Cuántos días necesita el maíz hasta la cosecha?",
    "¿Qué cultivos toleran suelos salinos?",
    "Combien de jours faut-il au sorgho jusqu'à la récolte ?",
    "Quelles cultures supportent un sol salé ?",
    "मक्का की फसल कितने दिनों में तैयार होती है?",
    "कौन सी फसलें खारी मिट्टी सहन करती हैं?",
    "كم يوما تحتاج الذرة حتى الحصاد؟",
    "ما المحاصيل التي تتحمل ملوحة التربة؟",
    "¿Hasta qué profundidad llegan las raíces del trigo?",
    "À quelle profondeur vont les racines du sorgho ?",
    "गेहूँ की जड़ें कितनी गहरी होती हैं?",
    "إلى أي عمق تصل جذور القمح؟",
    "Mizizi ya mtama hufika kina gani ardhini?",
    "Mahindi huchukua siku ngapi kukomaa?",
    "Mazao gani yanavumilia udongo wenye chumvi?",
)
DOING = {
    "en": "Looking it up in the table of crops…",
    "es": "Consultando la tabla de cultivos…",
    "fr": "Consultation du tableau des cultures…",
    "hi": "फसलों की तालिका देखी जा रही है…",
    "ar": "جارٍ البحث في جدول المحاصيل…",
    "sw": "Inaangalia jedwali la mazao…",
}


class CropOptions(Section, frozen=True, kw_only=True):
    """`[assistant.options.crop_table]`. path: the table, a .csv, .tsv or .parquet file."""

    path: str


def crop_table(setup: ToolSetup) -> Tool:
    """Return the tool over the table that its options name. Raises ConfigError, or MissingExtra."""
    return crops_tool(setup.path(setup.options(CropOptions).path), where=f"{setup.table} path")


def crops_tool(path: Path, where: str = "crops") -> Tool:
    """Return the tool over a CSV, TSV or Parquet file, whose columns decide its arguments.

    `crop`: any of its names. `property`: the column that is asked for. An argument for each column of text
    that has few values: a misspelt one is answered by the nearest. `ranges`: conditions on columns of
    numbers. At most MOST_ROWS rows are told. where: what errors begin with. Raises what open_crop_file
    raises.
    """
    file = open_crop_file(path, where)
    named = _argument_names(file.columns)

    async def call(arguments: msgspec.Struct, situation: Situation) -> Observation:
        given = msgspec.structs.asdict(arguments)
        try:
            return await asyncio.to_thread(_observe, file, given, named, situation)
        except DataError as mistake:
            down = say("table_down", situation.lang)
            return failed(f"{mistake}. Do not guess figures of crops.", told=down)

    return Tool(
        name="crop_table",
        description="Figures on crops from a table, each with its unit: "
        + line(", ".join(_label(name) for name in file.columns.told()), 400)
        + ". For a crop's requirements, or to find crops that meet conditions.",
        arguments=_arguments_type(file.columns, named),
        call=call,
        examples=EXAMPLES,
        doing=DOING,
        hint=_hint,
    )


def _hint(question: str, lang: str) -> Hint:
    figures = figures_asked(question, lang)
    is_date = "planting" in figures and speaks_of(question, lang, "when")
    if is_date or any(name in figures for name in NAMED_FIGURES):
        return Hint(nearer=FIGURED)
    return Hint(nearer=0.0 if figures else -FIGURED)


def _argument_names(columns: Columns) -> dict[str, str]:
    """Return the argument of each column that is filtered by its values -> the column."""
    names: dict[str, str] = {}
    for column in columns.choices:
        plain = "_".join(folded(column).split())
        name = plain if plain.isidentifier() else f"column_{len(names) + 1}"
        names[f"{name}_" if name in ("crop", "property", "ranges", *names) else name] = column
    return names


def _arguments_type(columns: Columns, named: dict[str, str]) -> type[msgspec.Struct]:
    """Return the struct of the tool's arguments, which names the file's own columns."""
    told: Any = Literal[tuple(columns.told())]
    fields: list[Any] = [
        _field("crop", str | None, None, "Name of a crop, in any language; null for all crops."),
        _field("property", told | None, None, "The one figure that is wanted; null for all figures."),
    ]
    for name, column in named.items():
        values = columns.choices[column]
        more = f" … ({len(values)} values)" if len(values) > SHOWN_VALUES else ""
        shown = line(", ".join(values[:SHOWN_VALUES]), 300)
        fields.append(
            _field(name, str | None, None, f"Only rows with this value: {shown}{more}; null for all.")
        )
    if columns.numbers:
        described = ", ".join(f"{name} {low:g} to {high:g}" for name, (low, high) in columns.numbers.items())
        numeric: Any = Literal[tuple(columns.numbers)]
        condition = msgspec.defstruct(
            "Range",
            [
                _field("column", numeric, ..., "The figure that the condition is about."),
                _field("at_least", float | None, None, "The smallest value that is wanted; null: no matter."),
                _field("at_most", float | None, None, "The largest value that is wanted; null: no matter."),
            ],
            frozen=True,
            forbid_unknown_fields=True,
        )
        ranges = (
            f"Conditions on figures, which all must hold; [] for none. In the table: {line(described, 600)}."
        )
        fields.append(_field("ranges", list[condition], msgspec.field(default_factory=list), ranges))  # type: ignore[valid-type]
    return msgspec.defstruct(
        "CropTableArguments",
        fields,
        namespace={"__doc__": "Looks up figures on crops in a table, or the crops that meet conditions."},
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )


def _field(name: str, kind: object, default: object, description: str) -> tuple[Any, ...]:
    described: Any = Annotated[kind, msgspec.Meta(description=description)]
    return (name, described) if default is ... else (name, described, default)


def _observe(
    file: CropFile, given: dict[str, Any], named: dict[str, str], situation: Situation
) -> Observation:
    crops, lang = None, situation.lang
    if given["crop"] and given["crop"].strip():
        crops = file.crops_called(given["crop"])
        if not crops:
            near = _near_crops(file, given["crop"])
            return failed(_no_crop(given["crop"], near), told=_no_crop_told(file, given["crop"], near, lang))
    chosen: dict[str, str] = {}
    for name, column in named.items():
        wanted = given[name]
        if wanted and wanted.strip():
            value = _value_of(wanted, file.columns.choices[column])
            if value is None:
                told = say("no_value", lang, value=line(wanted, 60), column=column_told(column, lang))
                return failed(_no_value(name, wanted, file.columns.choices[column]), told=told)
            chosen[column] = value
    conditions = [Condition(one.column, one.at_least, one.at_most) for one in given.get("ranges", [])]
    rows, n_rows = file.select(crops, chosen, conditions, MOST_ROWS)
    if not rows:
        return Observation(
            text="No row of the table of crops meets all these conditions. Nothing was left out.",
            told=say("no_rows", lang),
        )
    text = _told(file.columns, rows, given["property"]) + _sources(file.columns, rows)
    told = _for_user(file, rows, given["property"], situation)
    if n_rows > len(rows):
        text = f"{n_rows} rows fit; these are the first {len(rows)}. Narrow the question for others.\n{text}"
        told = f"{say('first_rows', lang, n=n_rows, shown=len(rows))}\n{told}"
    return Observation(text=bounded(text), told=bounded(told))


def _for_user(file: CropFile, rows: Sequence[Row], wanted: str | None, situation: Situation) -> str:
    """Return the rows as the user reads them: of what the last turn that names figures asks for."""
    columns, lang = file.columns, situation.lang
    own = [turn.content for turn in reversed(situation.asked.turns) if turn.role == "user"]
    asked = next((text for text in own[:LOOKED_BACK] if figures_asked(text, lang)), "")
    told = columns_asked(columns, wanted, asked, lang)
    names = {crop: file.name_in(crop, lang) for row in rows for crop in [str(row[columns.crop])]}
    return crops_told(columns, rows, told, names, lang)


def _value_of(wanted: str, values: Sequence[str]) -> str | None:
    return next((value for value in values if folded(value) == folded(wanted)), None)


def _near_crops(file: CropFile, name: str) -> list[str]:
    close = get_close_matches(folded(name), file.names(), n=3, cutoff=0.7)
    return list(dict.fromkeys(crop for one in close for crop in file.crops_called(one)))


def _no_crop_told(file: CropFile, name: str, near: Sequence[str], lang: str) -> str:
    names = ", ".join(file.name_in(crop, lang) for crop in near)
    hint = [say("did_you_mean", lang, names=names)] if near else []
    return " ".join([say("no_crop", lang, name=line(name, 60)), *hint])


def _no_crop(name: str, near: Sequence[str]) -> str:
    hint = f"Did you mean {' or '.join(near)}?" if near else "Do not guess its figures."
    return f"The table has no crop called {line(name, 60)!r}. {hint}"


def _no_value(name: str, wanted: str, values: Sequence[str]) -> str:
    known = {folded(value): value for value in values}
    close = [known[one] for one in get_close_matches(folded(wanted), known, n=3, cutoff=0.6)]
    hint = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
    return (
        f"{name}: the table has no value {line(wanted, 60)!r}. {hint}It has: {line('; '.join(values), 1200)}."
    )


def _told(columns: Columns, rows: Sequence[Row], wanted: str | None) -> str:
    """Return the rows in words: of each crop what all its rows share, then what each of them has besides."""
    of_crop: dict[Value, list[Row]] = {}
    for row in rows:
        of_crop.setdefault(row[columns.crop], []).append(row)
    told = columns.told() if wanted is None else [wanted]
    return "\n".join(_crop(crop, own, told, columns) for crop, own in of_crop.items())


def _sources(columns: Columns, rows: Sequence[Row]) -> str:
    """Return the line that says where the figures are from, "" where the file does not say it."""
    if columns.source is None:
        return ""
    named = dict.fromkeys(str(row[columns.source]) for row in rows if row[columns.source] is not None)
    return f"\nSources: {line(' / '.join(named), 400)}" if named else ""


def _crop(crop: Value, rows: Sequence[Row], told: Sequence[str], columns: Columns) -> str:
    shared = [name for name in told if len({row[name] for row in rows}) == 1]
    apart = [name for name in told if name not in shared]
    if apart:  # what tells the rows apart is said too, where it was not asked for
        apart = [name for name in columns.told() if name in apart or _tells_apart(name, rows, columns)]
    head = (
        f"{line(str(crop), 80)}: {_figures(rows[0], shared) or ('' if apart else 'no figure in the table')}"
    )
    lines = dict.fromkeys(f"- {_figures(row, apart)}" for row in rows) if apart else ()
    return "\n".join([head.rstrip(), *lines])


def _tells_apart(name: str, rows: Sequence[Row], columns: Columns) -> bool:
    return name in columns.choices and len({row[name] for row in rows}) > 1


def _figures(row: Row, names: Sequence[str]) -> str:
    return "; ".join(_figure(name, row[name]) for name in names if row[name] is not None)


def _figure(name: str, value: Value) -> str:
    number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    shown = f"{value:.6g}" if isinstance(value, float) else line(str(value).replace(BETWEEN, ", "), 200)
    unit = unit_of(name) if number else ""
    return f"{_label(name)} {shown} {UNITS.get(unit, '')}".rstrip()


def _label(name: str) -> str:
    return name[: len(name) - len(unit_of(name))].replace("_", " ")
