"""The planner by words: the nearest tool, what is missing, what earlier turns hold; no call to a model."""

import asyncio
from collections.abc import Sequence
from datetime import date

import msgspec
import pytest
from assistant_tests.planning.conftest import Replies, asked, tools
from tests.support.farm import FARM
from tests.support.scripted_assistant import embed_words

from ragstone.kernel.corpus.tags import Tag
from ragstone.kernel.embedding.model import Role, Vectors
from ragstone.kernel.records import Turn
from ragstone_assistant.conversation import Asked
from ragstone_assistant.languages import phrase
from ragstone_assistant.planning._reference import stands_for_nothing
from ragstone_assistant.planning.actions import menu_of
from ragstone_assistant.planning.loop import Agent, n_asked, standing_question
from ragstone_assistant.planning.slots import know_by_words
from ragstone_assistant.planning.state import AgentState, ChosenAction
from ragstone_assistant.planning.words import _filled, words_chooser, write_by_words
from ragstone_assistant.tool import Hint, Observation, Situation, Tool

TAGS = [
    Tag(
        "crop", {"maize": ("maize", "maíz", "maïs", "मक्का", "ذرة", "mahindi"), "tomato": ("tomato", "tomate")}
    )
]
EXAMPLES = {
    "search_documents": ("How do I control weeds?", "When do I plant beans?"),
    "weather": ("Will it rain this week in Kisumu?",),
    "crop_table": ("How many days does sorghum need until harvest?",),
    "find_videos": ("Is there a video about compost?",),
}
know = know_by_words(TAGS, FARM)


async def embed(texts: Sequence[str], role: Role) -> list[Vectors]:
    return list(embed_words(texts, role))


async def anything(_question: str, _lang: str, *, likely: bool = False) -> bool:
    return True


async def nothing(_question: str, _lang: str, *, likely: bool = False) -> bool:
    return False


def with_examples() -> dict[str, Tool]:
    return {
        name: msgspec.structs.replace(
            tool, examples=EXAMPLES[name], arguments=ARGUMENTS.get(name, tool.arguments)
        )
        for name, tool in tools().items()
    }


class Topic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the video shows."""

    topic: str


ARGUMENTS = {"find_videos": Topic}


def chosen(conversation: Asked, lang: str = "en", in_scope=anything) -> ChosenAction:
    choose = words_chooser(with_examples(), embed, in_scope)
    state = AgentState(
        asked=conversation,
        lang=lang,
        today=date(2026, 11, 21),
        domain=FARM,
        known=know(conversation),
        may_ask=n_asked(conversation) < 2,
    )
    return asyncio.run(choose(state))


def test_the_nearest_tool_is_called_with_what_the_question_names() -> None:
    assert chosen(asked("Will it rain in Nakuru tomorrow?")).arguments == {"place": "Nakuru", "days": 2}
    found = chosen(asked("How do I control weeds in maize?"))
    assert (found.action, found.arguments) == (
        "search_documents",
        {"question": "How do I control weeds in maize?", "crop": "maize"},
    )
    found = chosen(asked("How many days does maize need until harvest?"))
    assert (found.action, found.arguments) == ("crop_table", {"crop": "maize"})
    found = chosen(asked("Is there a video about pruning tomatoes?"))
    assert (found.action, found.arguments) == (
        "find_videos",
        {"topic": "Is there a video about pruning tomatoes?"},
    )


def test_who_names_a_pesticide_is_answered_from_documents_unless_a_tool_has_the_words() -> None:
    question = "How many days does maize need until harvest after glyphosate?"
    assert chosen(asked(question)).action == "search_documents"
    assert chosen(asked("How many days does maize need until harvest after rain?")).action == "crop_table"
    made = with_examples()
    made["crop_table"] = msgspec.structs.replace(
        made["crop_table"], hint=lambda question, _lang: Hint(nearer=0.1 if "days" in question else 0.0)
    )
    state = AgentState(
        asked=asked(question), lang="en", today=date(2026, 11, 21), domain=FARM, known={"crop": "maize"}
    )
    assert asyncio.run(words_chooser(made, embed, anything)(state)).action == "crop_table"


@pytest.mark.parametrize(
    ("question", "slot"),
    [
        ("Will it rain this week?", "place"),
        ("How much water does it need?", "crop"),
        ("My plants are sick", "crop"),
        ("My maize is sick", "symptom"),
        ("How many days until harvest?", "crop"),
    ],
)
def test_what_is_missing_is_asked_for_in_its_own_phrase(question: str, slot: str) -> None:
    found = chosen(asked(question))
    assert (found.action, found.arguments) == (
        "ask_user",
        {"missing": [slot], "question": FARM.ask(slot, "en")},
    )


def test_follow_ups_fill_it() -> None:
    place = asked("Will it rain this week?", FARM.ask("place", "en"), "nakuru")
    assert chosen(place).arguments == {"place": "nakuru"}
    crop = asked("When do I plant it?", FARM.ask("crop", "en"), "tomatoes")
    assert chosen(crop).arguments == {"question": "When do I plant it?\ntomatoes", "crop": "tomato"}
    unknown = asked("When do I plant it?", FARM.ask("crop", "en"), "dragon fruit")
    assert chosen(unknown).arguments["crop"] == "dragon fruit"


def test_after_two_questions_back_it_searches_with_all_that_was_said() -> None:
    conversation = asked(
        "My plants are sick", FARM.ask("crop", "en"), "no idea", FARM.ask("symptom", "en"), "hm"
    )
    found = chosen(conversation)
    assert found.action == "search_documents"
    assert found.arguments["question"] == "My plants are sick\nno idea\nhm"


def test_places_of_one_name_are_shown_with_the_question_and_the_reply_to_it_is_a_place(
    replies: Replies,
) -> None:
    async def which(_arguments: object, _situation: Situation) -> Observation:
        told = "Several:\n- Paris, France\n- Paris, Texas"
        return Observation(text="Which one?", told=told, missing="place")

    made = with_examples()
    made["weather"] = msgspec.structs.replace(made["weather"], call=which)
    said, _ = replies(agent_by_words(made), asked("Will it rain this week in Paris?"), place="Paris")
    assert said.text == f"Several:\n- Paris, France\n- Paris, Texas\n{phrase('which_place', 'en')}"
    for reply in ("Paris, Texas", "texas", "The one in Texas"):
        conversation = asked("Will it rain this week in Paris?", said.text, reply)
        assert know(conversation)["place"] == "Paris, Texas"
        assert chosen(conversation).arguments == {"place": "Paris, Texas"}


def test_out_of_scope_is_declined_unless_a_crop_is_named() -> None:
    assert chosen(asked("Who won the match?"), in_scope=nothing).action == "decline"
    assert chosen(asked("Who won maize?"), in_scope=nothing).action != "decline"


def test_a_later_turn_stands_for_an_earlier_one_and_a_filter_for_both() -> None:
    assert know(asked("weather in Nakuru?", "So.", "And in Kisumu?"))["place"] == "Kisumu"
    conversation = msgspec.structs.replace(asked("How do I sow maize?"), filters={"crop": "tomato"})
    assert know(conversation)["crop"] == "tomato"


@pytest.mark.parametrize(
    ("lang", "text", "place"),
    [
        ("en", "Will it rain in New Delhi tomorrow?", "New Delhi"),
        ("es", "¿Va a llover en Cuzco esta semana?", "Cuzco"),
        ("fr", "Quel temps fera-t-il à Thiès demain ?", "Thiès"),
        ("hi", "क्या कल नासिक में बारिश होगी?", "नासिक"),
        ("ar", "هل ستمطر غدا في أسيوط؟", "أسيوط"),
        ("sw", "Je, mvua itanyesha kesho huko Dodoma?", "Dodoma"),
    ],
)
def test_places_are_read_in_six_languages(lang: str, text: str, place: str) -> None:
    assert know(asked(text))["place"] == place


@pytest.mark.parametrize(
    "text", ["When do I plant in March?", "Does it grow in sandy soil?", "in my field", "in 3 days"]
)
def test_months_soils_and_fields_are_no_places(text: str) -> None:
    assert "place" not in know(asked(text))


def test_crops_are_read_inflected_and_with_the_arabic_article() -> None:
    assert know(asked("¿Cómo riego los tomates?"))["crop"] == "tomato"
    assert know(asked("كيف أسقي الذرة؟"))["crop"] == "maize"
    assert "crop" not in know(asked("maizefields and tomatillos"))


def agent_by_words(with_tools: dict[str, Tool]) -> Agent:
    return Agent(
        menu=menu_of(list(with_tools.values()), FARM.slots),
        choose=words_chooser(with_tools, embed, anything),
        write=write_by_words,
        domain=FARM,
        most_steps=6,
        time_limit_s=5,
    )


def test_the_tools_own_words_are_the_reply(replies: Replies) -> None:
    conversation = asked("Will it rain in Nakuru tomorrow?")
    said, _ = replies(agent_by_words(with_examples()), conversation, **know(conversation))
    assert (said.text, said.kind) == ("Nakuru: rain 12.5 mm tomorrow, 24 °C.", "answer")
    assert (said.usage.calls, said.cost_usd) == (0, 0.0)


def test_a_place_that_a_service_does_not_know_is_asked_for_again(replies: Replies) -> None:
    async def unknown(_arguments: object, _situation: Situation) -> Observation:
        return Observation(text="no such place", failed=True, missing="place")

    made = with_examples()
    made["weather"] = msgspec.structs.replace(made["weather"], call=unknown)
    said, _ = replies(agent_by_words(made), asked("Will it rain this week in Xy?"), place="Xy")
    assert (said.kind, said.text) == ("question", FARM.ask("place", "en"))


def test_a_table_without_the_crop_leads_to_the_documents(replies: Replies) -> None:
    async def unknown(_arguments: object, _situation: Situation) -> Observation:
        return Observation(text="no such crop", failed=True)

    made = with_examples()
    made["crop_table"] = msgspec.structs.replace(made["crop_table"], call=unknown)
    said, _ = replies(
        agent_by_words(made), asked("How many days does maize need until harvest?"), crop="maize"
    )
    assert [step.action for step in said.steps] == ["crop_table", "search_documents"]


@pytest.mark.parametrize(
    ("question", "actions"),
    [
        ("Will it rain this week in Kisumu?", ["weather", "answer"]),  # only the forecast can tell
        ("Are beans sown this week in Kisumu?", ["weather", "search_documents"]),
    ],
)
def test_a_tool_that_fails_is_followed_by_a_search_unless_it_alone_could_tell(
    question: str, actions: list[str], replies: Replies
) -> None:
    async def down(_arguments: object, _situation: Situation) -> Observation:
        return Observation(text="down", told="The forecast cannot be reached.", failed=True)

    def rain(question: str, _lang: str) -> Hint:
        return Hint(nearer=2.0 if "rain" in question else 0.0)

    made = with_examples()
    made["weather"] = msgspec.structs.replace(
        made["weather"],
        call=down,
        hint=rain,
        documented=False,
        examples=("Will it rain this week in Kisumu?", "Are beans sown this week in Kisumu?"),
    )
    said, _ = replies(agent_by_words(made), asked(question), crop="beans", place="Kisumu")
    assert [step.action for step in said.steps] == actions
    assert ("The forecast cannot be reached." in said.text) is (actions[-1] == "answer")


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What is fertigation and how does it work?", False),
        ("If the soil is too wet, what happens to it?", False),
        ("¿Qué es el acolchado y para qué sirve ella?", False),
        ("How much water does it need?", True),
        ("How much water does it need and when do I sow it?", True),
        ("When do I plant and how much water does it need?", True),
        ("My crop is sick and they have spots", True),
    ],
)
def test_a_pronoun_with_a_noun_before_it_is_not_asked_for(question: str, asks: bool) -> None:
    lang = "es" if question.startswith("¿") else "en"
    assert stands_for_nothing(question, lang, FARM, "pointing") is asks


def test_a_turn_that_refers_to_the_one_before_is_searched_for_with_it() -> None:
    pumps = asked("Which pumps exist?", "Centrifugal and turbine pumps [1].", "What do they cost?")
    assert standing_question(pumps, "en", FARM) == "Which pumps exist?\nWhat do they cost?"
    own = asked("Which pumps exist?", "Centrifugal pumps [1].", "What are sprinklers and what do they cost?")
    assert standing_question(own, "en", FARM) == "What are sprinklers and what do they cost?"


def test_a_tools_hint_of_words_draws_a_question_to_it_and_into_the_scope() -> None:
    def draws(question: str, lang: str) -> Hint:
        frost = "frost" in question and lang == "en"
        return Hint(nearer=2.0 if frost else 0.0, in_scope=frost)

    async def only_likely(_question: str, _lang: str, *, likely: bool = False) -> bool:
        return likely

    made = with_examples()
    made["weather"] = msgspec.structs.replace(made["weather"], hint=draws)
    for question, action in (("Any frost in Nakuru?", "weather"), ("Any films in Nakuru?", "decline")):
        state = AgentState(
            asked=asked(question), lang="en", today=date(2026, 11, 21), known={"place": "Nakuru"}
        )
        assert asyncio.run(words_chooser(made, embed, only_likely)(state)).action == action


def test_a_region_of_an_earlier_turn_restricts_no_table():
    class Table(msgspec.Struct, frozen=True, kw_only=True):
        crop: str | None = None
        region: str | None = None

    async def call(_arguments, _situation):
        raise AssertionError("nothing is called")

    table = Tool(name="crop_table", description="", arguments=Table, call=call)
    state = AgentState(
        asked=Asked(turns=(Turn("user", "And the roots of maize?"),)),
        lang="en",
        today=date(2026, 11, 21),
        domain=FARM,
        known={"crop": "maize", "region": "Nebraska"},
    )
    assert _filled(state, "And the roots of maize?", table) == {"crop": "maize"}
    named = {"crop": "maize", "region": "Nebraska"}
    assert _filled(state, "And the roots of maize in Nebraska?", table) == named
    assert _filled(msgspec.structs.replace(state, known={}), "Which crops are there?", table) is None
