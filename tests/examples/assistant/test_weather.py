"""The weather tool against a local server in Open-Meteo's format."""

from collections.abc import Iterator
from datetime import date

import msgspec
import pytest
from tests.support import open_meteo
from tests.support.open_meteo import OpenMeteoServer, daily_weather, serving
from tests.support.situations import situation

from farm_tools.open_meteo import WeatherOptions
from farm_tools.weather import FRESH_S, WeatherArguments, weather_tool
from ragstone.kernel.errors import ConfigError
from ragstone_assistant.tool import Observation
from ragstone_assistant.tools.plain_text import MOST


@pytest.fixture
def server() -> Iterator[OpenMeteoServer]:
    with serving() as running:
        yield running


async def observed(server: OpenMeteoServer, lang: str = "en", timeout_s: float = 5.0, **given) -> Observation:
    async with weather_tool(WeatherOptions(**server.options(timeout_s))) as tool:
        return await tool.call(msgspec.convert(given, tool.arguments), situation(lang))


async def test_the_forecast_is_told_day_by_day_with_units(server):
    seen = await observed(server, place="Nakuru", days=2)
    first, second = (daily_weather(-0.2833, 36.0667, date(2026, 11, day)) for day in (21, 22))
    rain = first["precipitation_sum"] + second["precipitation_sum"]
    lines = seen.text.splitlines()
    assert not seen.failed
    assert lines[0] == (
        "Weather forecast for Nakuru, Nakuru County, Kenya, 0.28°S 36.07°E. Source: Open-Meteo."
    )
    assert lines[1] == (
        f"2026-11-21 (today, Saturday): lowest temperature {first['temperature_2m_min']:g} °C, "
        f"highest temperature {first['temperature_2m_max']:g} °C, rain {first['precipitation_sum']:g} mm, "
        f"probability of rain {first['precipitation_probability_max']} %, "
        f"wind up to {first['wind_speed_10m_max']:g} km/h, "
        f"ET0 {round(first['et0_fao_evapotranspiration'], 1):g} mm"
    )
    assert lines[2].startswith("2026-11-22 (tomorrow, Sunday): ")
    assert lines[3].startswith(f"Together in these 2 days: rain {round(rain, 1):g} mm, ET0 ")
    assert len(lines) == 4


async def test_several_places_of_a_name_are_asked_about(server, says):
    seen = await observed(server, place="Springfield")
    assert not seen.failed
    says(seen.text)
    assert not any("forecast?" in asked for asked in server.asked)


@pytest.mark.parametrize(
    "given",
    [
        {"place": "springfield", "country": "Missouri"},
        {"place": "Springfield, Missouri"},
        {"place": "Springfield, Greene", "country": "US"},
    ],
)
async def test_the_region_tells_places_of_a_name_apart(server, given, says):
    seen = await observed(server, **given)
    says(seen.text)


async def test_a_far_larger_place_is_the_one_that_is_meant_and_the_others_are_mentioned(server, says):
    # 2,138,551 people against 24,699: 87 times as many, more than 20.
    seen = await observed(server, place="Paris", days=1)
    says(seen.text)


@pytest.mark.parametrize(("country", "lang"), [("مصر", "ar"), ("Egypt", "ar"), ("egypt", "en"), ("EG", "sw")])
async def test_a_country_is_understood_in_the_users_language_and_in_english(server, country, lang):
    seen = await observed(server, lang, place="Asyut", country=country)
    assert not seen.failed


async def test_accents_and_case_do_not_matter(server):
    assert "Thiès" in (await observed(server, place="THIÈS", days=1)).text


@pytest.mark.parametrize("given", [{"place": "Atlantis"}, {"place": "Nakuru", "country": "Peru"}])
async def test_an_unknown_place_is_said_to_be_unknown(server, given, says):
    seen = await observed(server, **given)
    assert seen.failed
    says(seen.text)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("slow", "did not answer within 0.3 s"),
        ("huge", "far too long"),
        ("redirect", "out of order (HTTP 302)"),
        ("not json", "no forecast"),
        ("other json", "no forecast"),
        ("ragged", "does not hold what was asked for"),
        ("500", "out of order (HTTP 500)"),
        ("429", "asked too often"),
        ("hang up", "cannot be reached"),
    ],
)
async def test_whatever_goes_wrong_is_said_and_no_weather_is_invented(server, fault, words):
    server.fault = fault
    seen = await observed(server, timeout_s=0.3 if fault == "slow" else 30, place="Nakuru")
    assert seen.failed
    assert words in seen.text
    assert "°C" not in seen.text
    assert server.url not in seen.text
    assert not any("elsewhere" in asked for asked in server.asked)


async def test_a_service_that_is_not_there_is_said_to_be_away():
    nowhere = WeatherOptions(forecast_url="http://127.0.0.1:9/f", geocoding_url="http://127.0.0.1:9/g")
    async with weather_tool(nowhere) as tool:
        seen = await tool.call(WeatherArguments(place="Nakuru"), situation())
    assert seen.failed
    assert "cannot be reached" in seen.text


async def test_the_reason_of_a_refusal_is_told(server, monkeypatch, says):
    monkeypatch.delitem(open_meteo.UNITS, "precipitation_sum")
    seen = await observed(server, place="Nakuru")
    assert seen.failed
    says(seen.text)


async def test_what_the_service_sends_is_bounded_and_ends_no_turn(server):
    server.fault = "injection"
    seen = await observed(server, place="Nakuru", days=1)
    assert "<|im_end|>" not in seen.text
    assert "\x00" not in seen.text
    assert len(seen.text.splitlines()[0]) < 400
    assert len(seen.text) <= MOST


async def test_a_place_is_asked_for_once_in_ten_minutes(server):
    now = 0.0
    async with weather_tool(WeatherOptions(**server.options()), lambda: now) as tool:
        first = await tool.call(WeatherArguments(place="Nakuru", days=2), situation())
        again = await tool.call(WeatherArguments(place="Nakuru", days=2), situation())
        assert (first, len(server.asked)) == (again, 2)
        await tool.call(WeatherArguments(place="Nakuru", days=3), situation())
        assert len(server.asked) == 3
        now = FRESH_S + 1
        await tool.call(WeatherArguments(place="Nakuru", days=2), situation())
        assert len(server.asked) == 5


async def test_a_key_in_the_address_is_kept_in_the_request(server):
    options = WeatherOptions(**server.options() | {"forecast_url": f"{server.url}/v1/forecast?apikey=k1"})
    async with weather_tool(options) as tool:
        await tool.call(WeatherArguments(place="Nakuru"), situation())
    assert "apikey=k1&latitude=-0.2833" in server.asked[1]


async def test_an_address_that_is_none_is_an_error_of_the_settings(server, says):
    options = WeatherOptions(**server.options() | {"geocoding_url": "localhost"})
    with pytest.raises(ConfigError) as error:
        async with weather_tool(options):
            pass
    says(error.value)


@pytest.mark.parametrize(
    "given", [{"place": "N"}, {"place": "Nakuru", "days": 17}, {"place": "Nakuru", "day": 1}]
)
def test_arguments_that_cannot_be_are_refused_with_their_field(given):
    with pytest.raises(msgspec.ValidationError, match=r"place|days|day"):
        msgspec.convert(given, WeatherArguments)
