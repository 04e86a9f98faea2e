"""Whatever a model writes into an argument, a tool of ours answers in words and raises nothing."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import sampled_from, text
from tests.support.open_meteo import serving
from tests.support.situations import situation

from farm_tools.crops import crops_tool
from farm_tools.open_meteo import WeatherOptions
from farm_tools.videos import videos_tool
from farm_tools.weather import weather_tool
from ragstone_assistant.tools.plain_text import MOST

EXAMPLES = Path(__file__).parents[3] / "examples" / "assistant"
FIELDS = [
    ("weather", "place"),
    ("weather", "country"),
    ("crop_table", "crop"),
    ("crop_table", "region"),
    ("find_videos", "topic"),
]


def embed(texts, role):
    return np.full((len(texts), 4), 0.5, dtype=np.float32)


@pytest.mark.long
def test_any_text_is_answered_in_words():
    tables = {
        "crop_table": crops_tool(EXAMPLES / "crops.csv"),
        "find_videos": videos_tool(EXAMPLES / "videos.csv", embed),
    }

    @settings(max_examples=60)
    @given(sampled_from(FIELDS), text(min_size=1, max_size=120))
    def check(field: tuple[str, str], words: str) -> None:
        name, argument = field
        asyncio.run(answered(name, {argument: words}))

    async def answered(name: str, given: dict[str, str]) -> None:
        async with weather_tool(WeatherOptions(**server.options())) as weather:
            tool = weather if name == "weather" else tables[name]
            if name == "weather":
                given = {"place": "Nakuru", **given}
            seen = await tool.call(tool.arguments(**given), situation())
            assert 0 < len(seen.text.encode()) <= 4 * MOST

    with serving() as server:
        check()
