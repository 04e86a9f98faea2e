"""Open-Meteo's protocol: a place's name -> places, a place -> its forecast day by day."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec

from ragstone.kernel.config.section import Seconds, Section
from ragstone.kernel.errors import ModelError, RagstoneError
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.llm.json_service import address_of

if TYPE_CHECKING:
    from ragstone.kernel.llm._site import Site

MOST_BYTES = 200_000  # 16 days of 6 numbers are 3 kB, 20 places 8 kB
PLACES = 20  # asked for: there are names that many places have
# Open-Meteo's name of each daily figure -> what it is called.
DAILY = {
    "temperature_2m_min": "lowest temperature",
    "temperature_2m_max": "highest temperature",
    "precipitation_sum": "rain",
    "precipitation_probability_max": "probability of rain",
    "wind_speed_10m_max": "wind up to",
    "et0_fao_evapotranspiration": "ET0",
}

ReplyT = TypeVar("ReplyT", "_Found", "_Forecast")
Figures = list[float | None]


class WeatherOptions(Section, frozen=True, kw_only=True):
    """`[assistant.options.weather]`: a service that speaks Open-Meteo's format; Open-Meteo's own by default."""

    forecast_url: str = "https://api.open-meteo.com/v1/forecast"
    geocoding_url: str = "https://geocoding-api.open-meteo.com/v1/search"
    timeout_s: Seconds = 5


class WeatherDown(RagstoneError):
    """The service did not give what it was asked for. The message is for the agent: it names no address."""


class Place(msgspec.Struct, frozen=True):
    """A place of the geocoding service. admin1, admin2: the region and the district that it lies in."""

    name: str
    latitude: Annotated[float, msgspec.Meta(ge=-90, le=90)]
    longitude: Annotated[float, msgspec.Meta(ge=-180, le=180)]
    country: str = ""
    country_code: str = ""
    admin1: str = ""
    admin2: str = ""
    population: float | None = None


class _Found(msgspec.Struct, frozen=True):
    results: list[Place] = []


class _Daily(msgspec.Struct, frozen=True):
    time: list[date]
    temperature_2m_min: Figures = []
    temperature_2m_max: Figures = []
    precipitation_sum: Figures = []
    precipitation_probability_max: Figures = []
    wind_speed_10m_max: Figures = []
    et0_fao_evapotranspiration: Figures = []


class _Forecast(msgspec.Struct, frozen=True):
    daily: _Daily
    daily_units: dict[str, str]


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """days: from today on, in the place's own time. figures: by their names in DAILY, one a day each, None
    where the service has none; a figure that it does not give at all is absent. units: of each of them.
    """

    days: list[date]
    figures: dict[str, Figures]
    units: dict[str, str]


class OpenMeteo:
    """The two services; its connections are shared by all calls."""

    def __init__(self, geocoding: "Site", forecast: "Site", timeout_s: float) -> None:
        self._geocoding, self._forecast, self._timeout_s = geocoding, forecast, timeout_s

    async def find(self, name: str, lang: str) -> list[Place]:
        """Return the places that have such a name, in the service's order. Raises WeatherDown."""
        asked = {"name": name, "count": str(PLACES), "language": lang, "format": "json"}
        return (await self._get(self._geocoding, asked, _Found)).results

    async def forecast(self, place: Place, n_days: int) -> Forecast:
        """Return the weather of today and the days after it, n_days in all. Raises WeatherDown."""
        asked = {
            "latitude": f"{place.latitude:.4f}",
            "longitude": f"{place.longitude:.4f}",
            "daily": ",".join(DAILY),
            "timezone": "auto",
            "forecast_days": str(n_days),
        }
        return _checked(await self._get(self._forecast, asked, _Forecast), n_days)

    async def _get(self, site: "Site", asked: dict[str, str], reply_type: type[ReplyT]) -> ReplyT:
        from ragstone.kernel.llm._site import exchange

        try:
            # A redirection is not followed: the service that was chosen answers, and no other.
            response, content = await exchange(
                site, "GET", "", params=asked, allow_redirects=False, most_bytes=MOST_BYTES
            )
        except CallFailed as mistake:
            raise WeatherDown(_why(mistake, self._timeout_s)) from None
        except ModelError:
            raise WeatherDown("the weather service cannot be reached just now") from None
        if response.status != 200:
            raise WeatherDown(_refusal(response.status, content))
        try:
            return msgspec.json.decode(content, type=reply_type)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise WeatherDown("the weather service sent something that is no forecast") from None


@asynccontextmanager
async def open_meteo(options: WeatherOptions, where: str) -> AsyncIterator[OpenMeteo]:
    """Give the services of the options; their connections are closed at the end of the block.

    Raises ConfigError for an address that is none.
    """
    import aiohttp  # 0.15 s that an assistant without weather does not need

    from ragstone.kernel.llm._site import CONNECT_S, Site, behind_proxy

    urls = {"geocoding_url": options.geocoding_url, "forecast_url": options.forecast_url}
    for key, url in urls.items():
        address_of(url, f"{where} {key}")
    async with aiohttp.ClientSession(
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(
            total=options.timeout_s, sock_connect=min(CONNECT_S, options.timeout_s)
        ),
        trust_env=any(map(behind_proxy, urls.values())),
    ) as session:
        geocoding, forecast = (Site(session, url, "", None) for url in urls.values())
        yield OpenMeteo(geocoding, forecast, options.timeout_s)


def _why(failure: CallFailed, timeout_s: float) -> str:
    if failure.status == "timeout":
        return f"the weather service did not answer within {timeout_s:g} s"
    if failure.status == "unparsable":
        return "the weather service sent something far too long to be a forecast"
    return "the weather service cannot be reached just now"


def _refusal(status: int, content: bytes) -> str:
    """Return what a status other than 200 means, with the service's own reason where it gives one."""
    try:
        said = msgspec.json.decode(content, type=dict[str, object]).get("reason")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        said = None
    if status == 429:
        return "the weather service has been asked too often; try again in some minutes"
    if isinstance(said, str) and said.strip():
        return f"the weather service refused (HTTP {status}): {' '.join(said.split())[:300]}"
    return f"the weather service is out of order (HTTP {status})"


def _checked(reply: _Forecast, n_days: int) -> Forecast:
    """Return the days and the figures of a reply. Raises WeatherDown where they do not go together."""
    days = reply.daily.time
    given = {name: getattr(reply.daily, name) for name in DAILY}
    figures: dict[str, Figures] = {name: values for name, values in given.items() if values}
    sound = 0 < len(days) <= n_days and all(len(values) == len(days) for values in figures.values())
    if not sound or not any(value is not None for values in figures.values() for value in values):
        raise WeatherDown("the weather service sent a forecast that does not hold what was asked for")
    units = {name: reply.daily_units.get(name, "") for name in figures}
    return Forecast(days=days, figures=figures, units=units)
