"""The labelled turns, with the packaged embedder: the planner by words is as good as its page says."""

import pytest
from benchmarks.planning import labelled, measured_by_words

from ragstone.assistant.languages import LANGUAGES


def test_the_set_is_large_in_six_languages_and_has_earlier_turns() -> None:
    turns = labelled("planning_turns.jsonl")
    assert len(turns) >= 80
    assert {one.lang for one in turns} == set(LANGUAGES)
    assert sum(len(one.turns) > 1 for one in turns) >= 8
    actions = {action for one in turns for action in one.action}
    assert actions >= {"search_documents", "weather", "crop_table", "find_videos", "ask_user", "decline"}


@pytest.mark.model
async def test_the_planner_by_words_chooses_as_a_person_would() -> None:
    found = await measured_by_words(labelled("planning_turns.jsonl"))
    assert sum(what == "right" for _one, what, _chosen in found) >= 80
    assert all(what != "language" for _one, what, _chosen in found)
