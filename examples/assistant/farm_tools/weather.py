"""The tool `weather`: a place's name -> its forecast in words, from Open-Meteo or a service like it."""

import time
import unicodedata
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated, TypeVar

import msgspec

from farm_tools.open_meteo import DAILY, Forecast, OpenMeteo, Place, WeatherDown, WeatherOptions, open_meteo
from farm_tools.words import day_of, number, say, speaks_of
from ragstone_assistant.tool import Hint, Observation, Situation, Tool, ToolSetup
from ragstone_assistant.tools.plain_text import bounded, failed, line

FRESH_S = 600.0  # a forecast is computed anew every hour or less often: a chat need not ask for it twice
MOST_KEPT = 256
MOST_NAMED = 6  # places of one name that a user is asked to choose from
# A place so many times as large as the next of its name is the one that is meant: Paris is in France.
FAR_LARGER = 20
# Of cosine similarity: what a word for the weather counts, and what its absence counts against this tool.
# Cosines of the packaged embedder lie between 0.75 and 0.95, and those of unlike questions hardly lower.
NAMED, UNNAMED = 0.06, 0.04
UNTIMED = 0.2  # of what names neither the weather nor a day to come: a place alone asks for no forecast
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
COMPASS = {"latitude": "NS", "longitude": "EW"}

Key = TypeVar("Key")
Value = TypeVar("Value")


class WeatherArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Weather forecast of a place, day by day: temperature, rain, wind, evapotranspiration."""

    place: Annotated[
        str,
        msgspec.Meta(
            min_length=2,
            max_length=100,
            description="Name of the town or village that the user has named, e.g. Nakuru. Never guess it.",
        ),
    ]
    days: Annotated[
        int,
        msgspec.Meta(
            ge=1, le=16, description="How many days, from today on: 1 is today alone, 2 today and tomorrow."
        ),
    ] = 7
    country: Annotated[
        str | None,
        msgspec.Meta(
            description="Country or region of the place, if the user has named it, e.g. Kenya; else null."
        ),
    ] = None


EXAMPLES = (
    "What will the weather be like in Nakuru tomorrow?",
    "Will it rain this week in Kisumu?",
    "Is there a risk of frost in the next days?",
    "¿Qué tiempo hará mañana en Cuzco?",
    "¿Va a llover esta semana?",
    "Quel temps fera-t-il demain à Thiès ?",
    "Est-ce qu'il va pleuvoir cette semaine ?",
    "कल नासिक में मौसम कैसा रहेगा?",
    "क्या इस हफ्ते बारिश होगी?",
    "كيف سيكون الطقس غدا في أسيوط؟",
    "هل ستمطر هذا الأسبوع؟",
    "Hali ya hewa itakuwaje kesho Dodoma?",
    "Je, mvua itanyesha wiki hii?",
)
DOING = {
    "en": "Looking at the weather forecast…",
    "es": "Consultando el pronóstico del tiempo…",
    "fr": "Consultation de la météo…",
    "hi": "मौसम का पूर्वानुमान देखा जा रहा है…",
    "ar": "جارٍ الاطلاع على توقعات الطقس…",
    "sw": "Inaangalia utabiri wa hali ya hewa…",
}


def weather(setup: ToolSetup) -> AbstractAsyncContextManager[Tool]:
    """Return what gives the tool with the options of its table. Raises ConfigError."""
    return weather_tool(setup.options(WeatherOptions), where=setup.table)


@asynccontextmanager
async def weather_tool(
    options: WeatherOptions, clock: Callable[[], float] = time.monotonic, where: str = "weather"
) -> AsyncIterator[Tool]:
    """Give the tool; its connections are closed at the end of the block.

    What was asked within FRESH_S is not asked again. Where several places have the name and none of them is
    far larger than the others, the observation names them and asks which, and has not failed. Whatever goes
    wrong with the service is an observation that failed. clock: seconds, for what is kept. where: the table of
    its options, for errors.
    Raises ConfigError for an address that is none.
    """
    async with open_meteo(options, where) as service:
        kept = _Kept(service, clock)

        async def call(arguments: WeatherArguments, situation: Situation) -> Observation:
            try:
                return await _observe(kept, arguments, situation.lang)
            except WeatherDown as mistake:
                return failed(
                    f"No forecast: {mistake}. Do not guess the weather; tell the user that it is not known.",
                    told=say("weather_down", situation.lang),
                )

        yield Tool(
            name="weather",
            description="Weather forecast for a place, up to 16 days: temperature, rain, wind, "
            "evapotranspiration. Needs the name of a place: if the user has named none, ask for it.",
            arguments=WeatherArguments,
            call=call,
            examples=EXAMPLES,
            doing=DOING,
            hint=_hint,
            documented=False,
        )


def _hint(question: str, lang: str) -> Hint:
    named, now = speaks_of(question, lang, "weather"), speaks_of(question, lang, "now")
    rain = speaks_of(question, lang, "rain")
    if named or (rain and now):
        return Hint(nearer=NAMED, in_scope=named)
    return Hint(nearer=-UNNAMED if rain or now else -UNTIMED)


class _Kept:
    """The service, and what it said within the last FRESH_S seconds."""

    def __init__(self, service: OpenMeteo, clock: Callable[[], float]) -> None:
        self._service, self._clock = service, clock
        self._places: dict[tuple[str, str], tuple[float, list[Place]]] = {}
        self._forecasts: dict[tuple[float, float, int], tuple[float, Forecast]] = {}

    async def find(self, name: str, lang: str) -> list[Place]:
        key = (name, lang)
        now = self._tidy(self._places)
        if key not in self._places:
            self._places[key] = (now, await self._service.find(name, lang))
        return self._places[key][1]

    async def forecast(self, place: Place, n_days: int) -> Forecast:
        key = (place.latitude, place.longitude, n_days)
        now = self._tidy(self._forecasts)
        if key not in self._forecasts:
            self._forecasts[key] = (now, await self._service.forecast(place, n_days))
        return self._forecasts[key][1]

    def _tidy(self, kept: dict[Key, tuple[float, Value]]) -> float:
        """Forget what is no longer fresh, and the oldest where there is too much; return the time."""
        now = self._clock()
        for key in [key for key, (since, _) in kept.items() if now - since > FRESH_S]:
            del kept[key]
        while len(kept) >= MOST_KEPT:
            del kept[next(iter(kept))]
        return now


async def _observe(kept: _Kept, asked: WeatherArguments, lang: str) -> Observation:
    name, *around = (part.strip() for part in asked.place.split(","))
    wanted = [part for part in (*around, asked.country or "") if part.strip()]
    places = await _matching(kept, name, wanted, lang)
    if not places:
        where = f" in {line(', '.join(wanted), 80)}" if wanted else ""
        unknown = failed(
            f"The weather service knows no place called {line(name, 80)!r}{where}. Ask the user how it is "
            "spelt, or for a larger town nearby.",
            told=_unknown_in(name, ", ".join(wanted), lang),
        )
        return msgspec.structs.replace(unknown, missing="place")
    place = _meant(places)
    if place is None:
        described = [_described(place) for place in places[:MOST_NAMED]]
        told = _places_in(name, described, lang)
        return Observation(text=_which(name, places), told=told, missing="place")
    others, forecast = len(places) - 1, await kept.forecast(place, asked.days)
    told = _forecast_in(_described(place), forecast, others, lang)
    return Observation(text=_forecast_text(place, forecast, others), told=told)


async def _matching(kept: _Kept, name: str, wanted: Sequence[str], lang: str) -> list[Place]:
    """Return the places of that name that lie where they should; none twice.

    Names of countries come in the user's language. The model may have written them in English, so where
    nothing fits it is looked for in English too.
    """
    for language in dict.fromkeys((lang, "en")):
        found = await kept.find(name, language)
        named = [place for place in found if _folded(place.name) == _folded(name)] or found
        fitting = [place for place in named if all(_lies_in(place, part) for part in wanted)]
        if fitting:
            return list({_described(place): place for place in reversed(fitting)}.values())[::-1]
    return []


def _lies_in(place: Place, part: str) -> bool:
    around = (place.country, place.country_code, place.admin1, place.admin2)
    folded = _folded(part)
    return any(
        folded == _folded(one) or (len(folded) > 3 and folded in _folded(one)) for one in around if one
    )


def _meant(places: Sequence[Place]) -> Place | None:
    """Return the only place, or the one that is far larger than all others; None where it must be asked."""
    if len(places) == 1:
        return places[0]
    sizes = sorted((place.population or 0 for place in places), reverse=True)
    if sizes[0] and sizes[0] >= FAR_LARGER * max(1, sizes[1]):
        return max(places, key=lambda place: place.population or 0)
    return None


def _which(name: str, places: Sequence[Place]) -> str:
    named = "\n".join(f"- {_described(place)}" for place in places[:MOST_NAMED])
    more = f"\n- and {len(places) - MOST_NAMED} more" if len(places) > MOST_NAMED else ""
    return bounded(
        f"There are several places called {line(name, 80)!r}; no forecast was made. Ask the user which one "
        f"is meant, then call again with its country or region:\n{named}{more}"
    )


def _described(place: Place) -> str:
    parts = dict.fromkeys(part for part in (place.name, place.admin2, place.admin1, place.country) if part)
    return line(", ".join(parts), 160)


def _forecast_text(place: Place, forecast: Forecast, others: int) -> str:
    where = f"{_degrees(place.latitude, 'latitude')} {_degrees(place.longitude, 'longitude')}"
    smaller = f" (smaller places of the same name: {others})" if others else ""
    head = f"Weather forecast for {_described(place)}{smaller}, {where}. Source: Open-Meteo."
    days = [_day_text(forecast, at) for at in range(len(forecast.days))]
    return bounded("\n".join([head, *days, *_sums_text(forecast)]))


def _degrees(value: float, way: str) -> str:
    return f"{abs(value):.2f}°{COMPASS[way][value < 0]}"


def _day_text(forecast: Forecast, at: int) -> str:
    day = forecast.days[at]
    name = {0: "today, ", 1: "tomorrow, "}.get(at, "")
    figures = [
        f"{DAILY[key]} {_number(values[at])} {line(forecast.units[key], 12)}".rstrip()
        for key, values in forecast.figures.items()
        if values[at] is not None
    ]
    return f"{day.isoformat()} ({name}{day:%A}): {', '.join(figures) or 'no figures given'}"


def _sums_text(forecast: Forecast) -> list[str]:
    """Return the line with the sums over all days, of those figures that every day has."""
    n_days = len(forecast.days)
    sums = []
    for key in SUMMED:
        values = [value for value in forecast.figures.get(key, []) if value is not None]
        if n_days > 1 and len(values) == n_days:
            sums.append(f"{DAILY[key]} {_number(sum(values))} {line(forecast.units[key], 12)}".rstrip())
    return [f"Together in these {n_days} days: {', '.join(sums)}"] if sums else []


def _number(value: float | None) -> str:
    return f"{round(value or 0.0, 1):g}"


def _folded(name: str) -> str:
    """Return a name without case and without accents on Latin letters."""
    split = unicodedata.normalize("NFKD", name.casefold())
    return "".join(one for one in split if not "\u0300" <= one <= "\u036f").strip()


def _forecast_in(where: str, forecast: Forecast, others: int, lang: str) -> str:
    """Return a forecast, a line a day; figures that the service has not given are left out.

    where: the place in words. others: how many smaller places have its name.
    """
    head = [say("forecast", lang, place=where), *([say("smaller", lang, n=others)] if others else [])]
    days = [f"- {_day_in(forecast, at, lang)}" for at in range(len(forecast.days))]
    return bounded("\n".join([" ".join(head), *days, *_sums_in(forecast, lang)]))


def _places_in(name: str, described: Sequence[str], lang: str) -> str:
    """Return the line that there are several places of a name, and the places, a line each."""
    return "\n".join(
        [say("several_places", lang, name=line(name, 80)), *(f"- {place}" for place in described)]
    )


def _unknown_in(name: str, where: str, lang: str) -> str:
    """Return that there is no place of a name. where: the region or country that was named, or ""."""
    if where:
        return say("no_place_there", lang, name=line(name, 80), where=line(where, 80))
    return say("no_place", lang, name=line(name, 80))


def _day_in(forecast: Forecast, at: int, lang: str) -> str:
    near = {0: "today", 1: "tomorrow"}.get(at)
    named = day_of(forecast.days[at], lang) + (f" ({say(near, lang)})" if near else "")
    given = {name: value for name, values in forecast.figures.items() if (value := values[at]) is not None}
    figures = [*_temperatures_in(given, forecast.units, lang)]
    figures += [
        say(told, lang, value=_with_unit(number(round(given[name], 1), lang), forecast.units[name]))
        for name, told in FIGURES.items()
        if name in given
    ]
    return f"{named}: {'; '.join(figures) or say('no_figures', lang)}"


def _temperatures_in(given: dict[str, float], units: dict[str, str], lang: str) -> list[str]:
    shown = {name: number(round(given[name], 1), lang) for name in (LOW, HIGH) if name in given}
    if len(shown) == 2 and units[LOW] == units[HIGH]:
        return [_with_unit(say("between", lang, low=shown[LOW], high=shown[HIGH]), units[LOW])]
    phrases = {LOW: "lowest", HIGH: "highest"}
    return [say(phrases[name], lang, value=_with_unit(one, units[name])) for name, one in shown.items()]


def _sums_in(forecast: Forecast, lang: str) -> list[str]:
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
