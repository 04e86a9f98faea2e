"""What the tools tell the user: in the user's language, and no number but the tool's own."""

import functools
from datetime import date
from pathlib import Path

import msgspec
import pytest
from tests.support.open_meteo import daily_weather, serving
from tests.support.situations import observe, situation

from farm_tools.crops import crops_tool
from farm_tools.open_meteo import WeatherOptions
from farm_tools.videos import videos_tool
from farm_tools.weather import weather_tool
from farm_tools.words import say
from ragstone.kernel.errors import ModelError
from ragstone_assistant.answering.support import held_values, stated_values
from ragstone_assistant.languages import LANGUAGES
from ragstone_assistant.tool import Observation, Tool

SHIPPED = Path(__file__).parents[3] / "examples" / "assistant"


async def weather(lang: str, **given: object) -> Observation:
    with serving() as server:
        async with weather_tool(WeatherOptions(**server.options())) as tool:
            return await tool.call(msgspec.convert(given, tool.arguments), situation(lang))


@functools.cache
def shipped_crops() -> Tool:
    return crops_tool(SHIPPED / "crops.csv")


async def crops(lang: str, *questions: str, **given: object) -> Observation:
    tool = shipped_crops()
    return await tool.call(msgspec.convert(given, tool.arguments), situation(lang, *questions))


def numbers_held(seen: Observation) -> bool:
    """Say whether all numbers of what the user is told stand in what the agent is told."""
    held = held_values(seen.text)
    return all(values & held for values in stated_values(seen.told))


async def test_the_weather_is_told_with_dates_of_the_language(says):
    seen = await weather("sw", place="Dodoma", days=3)
    first = daily_weather(-6.17221, 35.73947, date(2026, 11, 21))
    lines = seen.told.splitlines()
    says("\n".join([lines[0], *(line.partition(": ")[0] for line in lines[1:])]))
    assert f"{first['temperature_2m_min']:g} hadi {first['temperature_2m_max']:g} °C" in lines[1]
    assert f"mvua {first['precipitation_sum']:g} mm; " in lines[1]


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_no_number_is_told_that_is_not_the_tools(lang):
    assert numbers_held(await weather(lang, place="Nakuru", days=7))
    assert numbers_held(await weather(lang, place="Paris", days=1))
    assert numbers_held(await crops(lang, crop="maize"))
    assert numbers_held(await crops(lang, region="East Africa"))


async def test_of_today_and_tomorrow_no_sum_is_told():
    assert len((await weather("en", place="Nakuru", days=2)).told.splitlines()) == 3


async def test_places_are_told_in_the_language(says):
    unknown = await weather("es", place="Atlantis")
    assert unknown.told == say("no_place", "es", name="Atlantis")
    assert (await weather("es", place="Nakuru, Peru")).told == say(
        "no_place_there", "es", name="Nakuru", where="Peru"
    )
    several = (await weather("fr", place="Springfield")).told.splitlines()
    says(several[0])
    says(several)


async def test_a_place_with_all_that_it_lies_in_is_found():
    seen = await weather("en", place="Springfield, Greene, Missouri, United States", days=1)
    assert "Springfield, Greene, Missouri" in seen.told


async def test_a_service_that_is_away_is_told_in_the_language():
    nowhere = WeatherOptions(forecast_url="http://127.0.0.1:9/f", geocoding_url="http://127.0.0.1:9/g")
    async with weather_tool(nowhere) as tool:
        seen = await tool.call(msgspec.convert({"place": "Nakuru"}, tool.arguments), situation("hi"))
    assert (seen.failed, seen.told) == (True, say("weather_down", "hi"))


@pytest.mark.parametrize(
    ("lang", "question", "told"),
    [
        ("en", "How deep do the roots of maize grow?", "maize:\n- rooting depth: 1 to 1.7 m\nSource: "),
        ("es", "¿Qué profundidad alcanzan las raíces?", "maíz:\n- profundidad de las raíces: 1 a 1,7 m\n"),
        ("sw", "Mizizi huenda kina gani?", "mahindi:\n- kina cha mizizi: 1 hadi 1.7 m\nChanzo: "),
        ("ar", "ما عمق جذور الذرة؟", "ذرة:\n- عمق الجذور: 1 إلى 1.7 m\nالمصدر: "),
    ],
)
async def test_the_figure_that_a_question_names_is_told_alone_with_its_source(lang, question, told):
    assert (await crops(lang, question, crop="maize")).told.startswith(told)


async def test_what_tells_rows_apart_is_told_in_the_language(says):
    seen = await crops("fr", "Combien de jours jusqu'à la récolte ?", crop="maize", region="East Africa")
    says("\n".join(seen.told.splitlines()[:2]))
    both = (await crops("fr", "Combien de jours ?", crop="maize")).told.splitlines()
    says(both[1])
    assert len(both) == 8  # the name, six rows, the source


async def test_a_later_turn_asks_for_the_same_figure(says):
    told = (await crops("en", "How deep do the roots of maize grow?", "And of wheat?", crop="wheat")).told
    says(told)
    assert "salinity" not in told


async def test_the_water_need_is_told_with_what_the_coefficient_means():
    told = (await crops("sw", "Nyanya inahitaji maji kiasi gani?", crop="tomato")).told
    assert say("kc_means", "sw") in told
    assert "kina cha mizizi" not in told


async def test_what_the_table_lacks_is_told_in_the_language(says):
    says((await crops("es", crop="mazie")).told)
    assert (await crops("ar", crop="quinoa")).told == say("no_crop", "ar", name="quinoa")
    missing = await crops("en", "Does sweet corn tolerate salty soil?", crop="sweet corn")
    says(missing.told)
    nothing = await crops("hi", ranges=[{"column": "growing_period_days", "at_least": 999}])
    assert nothing.told == say("no_rows", "hi")


async def test_the_columns_of_another_table_keep_their_names(tmp_path, says):
    (tmp_path / "own.csv").write_text("crop,name_sw,yield_t_ha\nmaize,mahindi,4.5\n", "utf-8")
    seen = await observe(crops_tool(tmp_path / "own.csv"), "sw", crop="maize")
    says(seen.told)


async def test_videos_are_told_by_title_and_language_and_linked():
    def down(_texts: object, _role: object) -> object:
        raise ModelError("no embedder")

    seen = await observe(videos_tool(SHIPPED / "videos.csv", down), "sw", topic="kutengeneza mboji")
    lines = seen.told.splitlines()
    assert lines[:2] == [say("videos_found", "sw"), "- Kutengeneza mboji (Kiswahili)"]
    assert lines[-1] == say("by_words", "sw")
    assert seen.links[0][0] == "Kutengeneza mboji"
    none = await observe(videos_tool(SHIPPED / "videos.csv", down), "fr", topic="zzz")
    assert none.told == f"{say('no_video', 'fr')} {say('by_words', 'fr')}"
