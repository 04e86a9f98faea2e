"""Numbers, times of day and quantities of a text, comparable however they are written."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from ragstone.kernel.corpus.numbers import number_values

MOST_DIGITS = 15
# Threes of digits behind one kind of space (plain, no-break, thin) or apostrophe. What begins with 0 is none.
SPACED = r"(?!0)\d{1,3}([ \u00a0\u2009\u202f'’])\d{3}(?:\1\d{3})*(?!\d)(?:[.,٫]\d+)?"
NUMBER = re.compile(SPACED + r"|\d+(?:[.,٫٬]\d+)*")
HALF_DAY = re.compile(r"\b(\d{1,2})(?:[:.](\d{2}))?\s?([ap])\.?\s?m\b\.?", re.IGNORECASE)
CLOCK = re.compile(r"\b(\d{1,2}):(\d{1,2})\b")
UNIT = re.compile(r"[\s-]?(°\s?[cf]|[^\W\d_]+)", re.IGNORECASE)
TOLERANCE = 0.01  # of a quantity that is converted: 5 miles are 8 km

# Unit -> dimension, and how many of the dimension's first unit it is. Symbols are the same in all languages;
# names are English, and where others have the same ones (kilo, hectare, Minute) theirs.
_UNITS = {
    "mass": {
        1.0: "g gram grams gramm gramme grammes gramo gramos",
        0.001: "mg milligram milligrams",
        1000.0: "kg kilo kilos kilogram kilograms kilogramm kilogramme kilogramo kilogramos",
        1e6: "t tonne tonnes tonelada toneladas",
        453.592: "lb lbs pound pounds",
        28.3495: "oz ounce ounces",
    },
    "length": {
        1.0: "m meter meters metre metres metro metros mètre mètres",
        0.01: "cm centimeter centimeters centimetre centimetres",
        0.001: "mm millimeter millimeters millimetre millimetres",
        1000.0: "km kilometer kilometers kilometre kilometres",
        1609.344: "mi mile miles",
        0.3048: "ft foot feet",
        0.0254: "inch inches",
    },
    "area": {1.0: "ha hectare hectares hektar hectárea hectáreas", 0.404686: "acre acres"},
    "volume": {
        1.0: "l liter liters litre litres litro litros",
        0.001: "ml milliliter milliliters millilitre millilitres",
        3.78541: "gal gallon gallons",
    },
    "time": {
        1.0: "s sec second seconds",
        60.0: "min minute minutes minuten minutos",
        3600.0: "h hr hrs hour hours heure heures stunde stunden hora horas",
        86400.0: "day days tag tage jour jours día días",
        604800.0: "week weeks woche wochen semaine semaines semana semanas",
    },
}
UNITS = {
    name: (dimension, factor)
    for dimension, table in _UNITS.items()
    for factor, names in table.items()
    for name in names.split()
}


class StatedNumber(NamedTuple):
    """A number of a text as it is written, with the values that it may have.

    minute: of the day, for a time. dimension, amount: for a number with a unit that is known, in the first
    unit of the dimension. parts: the numbers that it may be instead, where a space groups its digits: "1 500"
    may be two cells of a table.
    """

    text: str
    values: tuple[float, ...] = ()
    minute: int | None = None
    dimension: str | None = None
    amount: float = 0.0
    parts: tuple["StatedNumber", ...] = ()


def stated_numbers(text: str) -> Iterator[StatedNumber]:
    """Yield the numbers of a text. "1.500" may be one and a half or fifteen hundred."""
    for match in HALF_DAY.finditer(text):
        hour = int(match[1]) % 12 + 12 * (match[3].lower() == "p")
        yield StatedNumber(match[0].rstrip("."), minute=60 * hour + int(match[2] or 0))
    text = HALF_DAY.sub(" ", text)
    for match in CLOCK.finditer(text):
        yield StatedNumber(match[0], minute=60 * (int(match[1]) % 24) + int(match[2]))
    text = CLOCK.sub(" ", text)
    for match in NUMBER.finditer(text):
        unit = UNIT.match(text, match.end())
        name = unit[1].lower().replace(" ", "") if unit else ""
        number = _with_unit(match[0], name)
        if " " in match[0]:
            *others, last = match[0].split(" ")
            parts = (*(_with_unit(part, "") for part in others), _with_unit(last, name))
            number = number._replace(parts=parts)
        yield number


def _with_unit(written: str, unit: str) -> StatedNumber:
    """Return a number without its parts. unit: the word behind it, which need not be a unit."""
    if len(written) > MOST_DIGITS:
        return StatedNumber(written)
    values = number_values(written)
    if unit in ("°c", "°f"):
        degrees = values[0] if unit == "°c" else (values[0] - 32) / 1.8
        return StatedNumber(written + unit, values, None, "temperature", degrees)
    if unit in UNITS:
        dimension, factor = UNITS[unit]
        return StatedNumber(f"{written} {unit}", values, None, dimension, values[-1] * factor)
    return StatedNumber(written, values)


class HeldNumbers(NamedTuple):
    """The numbers of contexts: values, minutes of the day, amounts by dimension, values by dimension.

    amounts: in ascending order.
    """

    values: frozenset[float]
    minutes: frozenset[int]
    texts: frozenset[str]
    amounts: dict[str, list[float]]
    measured: dict[float, frozenset[str | None]]

    def hold(self, number: StatedNumber) -> bool:
        """Say whether the contexts have a number: the same time, quantity (within 1 %), or value.

        A value that they have in other units of the same kind alone ("2 g" for "2 kg") is another number.
        """
        if number.parts and all(map(self.hold, number.parts)):
            return True
        if number.minute is not None:
            return number.minute in self.minutes or (
                number.minute % 60 == 0 and number.minute / 60 in self.values
            )
        if not number.values:
            return number.text in self.texts
        if number.dimension is not None:
            # Within 1 % of the larger of two amounts; below 0 degrees the ends change places.
            low, high = sorted((number.amount * (1 - TOLERANCE), number.amount / (1 - TOLERANCE)))
            amounts = self.amounts.get(number.dimension, [])
            at = bisect_left(amounts, low)
            if at < len(amounts) and amounts[at] <= high:
                return True
            alike = [self.measured[value] for value in number.values if value in self.measured]
            return any(None in units or number.dimension not in units for units in alike)
        return not self.values.isdisjoint(number.values)


def held_numbers(texts: Iterator[str] | list[str], spelled: frozenset[float]) -> HeldNumbers:
    """Return the numbers of contexts; spelled: the values of their number words."""
    minutes: set[int] = set()
    unread: set[str] = set()
    amounts: dict[str, list[float]] = {}
    measured: dict[float, set[str | None]] = {value: {None} for value in spelled}
    for text in texts:
        for number in chain.from_iterable((number, *number.parts) for number in stated_numbers(text)):
            if number.minute is not None:
                minutes.add(number.minute)
            elif not number.values:
                unread.add(number.text)
            if number.dimension is not None:
                amounts.setdefault(number.dimension, []).append(number.amount)
            for value in number.values:
                measured.setdefault(value, set()).add(number.dimension)
    return HeldNumbers(
        frozenset(measured),
        frozenset(minutes),
        frozenset(unread),
        {dimension: sorted(values) for dimension, values in amounts.items()},
        {value: frozenset(units) for value, units in measured.items()},
    )
