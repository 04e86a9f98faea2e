"""A forecast -> what the user reads of it, in the user's language."""

from collections.abc import Sequence

from ragstone.assistant.tools.open_meteo import Forecast
from ragstone.assistant.tools.telling import bounded, line
from ragstone.assistant.tools.wording import day_of, number, say

LOW, HIGH = "temperature_2m_min", "temperature_2m_max"
# Open-Meteo's name of a daily figure -> the phrase that tells it.
FIGURES = {
    "precipitation_sum": "rain",
    "precipitation_probability_max": "chance",
    "wind_speed_10m_max": "wind",
    "et0_fao_evapotranspiration": "et0",
}
SUMMED = ("precipitation_sum", "et0_fao_evapotranspiration")
FEWEST_SUMMED = 3  # days: of today and tomorrow nobody wants the sum


def forecast_told(where: str, forecast: Forecast, others: int, lang: str) -> str:
    """Return a forecast, a line a day; figures that the service has not given are left out.

    where: the place in words. others: how many smaller places have its name.
    """
    head = [say("forecast", lang, place=where), *([say("smaller", lang, n=others)] if others else [])]
    days = [f"- {_day(forecast, at, lang)}" for at in range(len(forecast.days))]
    return bounded("\n".join([" ".join(head), *days, *_sums(forecast, lang)]))


def places_told(name: str, described: Sequence[str], lang: str) -> str:
    """Return the line that there are several places of a name, and the places, a line each."""
    return "\n".join(
        [say("several_places", lang, name=line(name, 80)), *(f"- {place}" for place in described)]
    )


def unknown_told(name: str, where: str, lang: str) -> str:
    """Return that there is no place of a name. where: the region or country that was named, or ""."""
    if where:
        return say("no_place_there", lang, name=line(name, 80), where=line(where, 80))
    return say("no_place", lang, name=line(name, 80))


def _day(forecast: Forecast, at: int, lang: str) -> str:
    near = {0: "today", 1: "tomorrow"}.get(at)
    named = day_of(forecast.days[at], lang) + (f" ({say(near, lang)})" if near else "")
    given = {name: value for name, values in forecast.figures.items() if (value := values[at]) is not None}
    figures = [*_temperatures(given, forecast.units, lang)]
    figures += [
        say(told, lang, value=_with_unit(number(round(given[name], 1), lang), forecast.units[name]))
        for name, told in FIGURES.items()
        if name in given
    ]
    return f"{named}: {'; '.join(figures) or say('no_figures', lang)}"


def _temperatures(given: dict[str, float], units: dict[str, str], lang: str) -> list[str]:
    shown = {name: number(round(given[name], 1), lang) for name in (LOW, HIGH) if name in given}
    if len(shown) == 2 and units[LOW] == units[HIGH]:
        return [_with_unit(say("between", lang, low=shown[LOW], high=shown[HIGH]), units[LOW])]
    phrases = {LOW: "lowest", HIGH: "highest"}
    return [say(phrases[name], lang, value=_with_unit(one, units[name])) for name, one in shown.items()]


def _sums(forecast: Forecast, lang: str) -> list[str]:
    """Return the line with the sums over all days, of those figures that every day has."""
    n_days, figures = len(forecast.days), []
    for name in SUMMED:
        values = [value for value in forecast.figures.get(name, []) if value is not None]
        if n_days >= FEWEST_SUMMED and len(values) == n_days:
            value = number(round(sum(values), 1), lang)
            figures.append(say(FIGURES[name], lang, value=_with_unit(value, forecast.units[name])))
    return [say("sums", lang, n=n_days, figures="; ".join(figures))] if figures else []


def _with_unit(shown: str, unit: str) -> str:
    return f"{shown} {line(unit, 12)}".rstrip()
