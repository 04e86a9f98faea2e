"""Every structured call of the stages that are no judge, on two rows: what is asked, without a model."""

from datetime import date

import msgspec

from ragstone.features.build._critic import critic_names, load_critics, render_critics
from ragstone.features.build._critique import closed_book_prompt
from ragstone.features.build._extras import write_prompt as write_negative
from ragstone.features.build._fact_writing import facts_prompt
from ragstone.features.build._falsifying import change_prompt, check_prompt
from ragstone.features.build._styles import load_style, turns_of
from ragstone.features.build._writing import write_prompt
from ragstone.features.build.fictional import names_prompt
from ragstone.features.simulate._persona import Persona
from ragstone.features.simulate._speaking import user_prompt
from ragstone.kernel.config import Settings
from ragstone.kernel.corpus.model_tags import tags_prompt
from ragstone.kernel.corpus.tags import Tag
from ragstone.kernel.dataset.candidate import Candidate, SourcePassage
from ragstone.kernel.llm import Prompt
from ragstone.kernel.records import Question, Turn
from ragstone.kernel.retrieval.rerank import _load_prompt, render
from ragstone.kernel.translation.translators import load_prompt, translation_prompt
from ragstone_assistant.conversation import Asked
from ragstone_assistant.planning.actions import menu_of
from ragstone_assistant.planning.model import action_prompt
from ragstone_assistant.planning.state import AgentState
from ragstone_assistant.tool import Tool

SECRET = b"s" * 32
TEXTS = (
    "Quorvel is sown in Tibruary, 25 cm apart. Ilda Ostanello grew it in 1843.",
    "Brastles need 417 mm of water and no frost. They are sown by most farmers of Nakurgo, who lime first.",
)
OWN_MARKS = ("Quorvel", "Tibruary", "Ostanello", "1843", "Brastles", "417", "Nakurgo")
"""Words of the rows that no fixed part of a request may hold."""


class Weather(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Weather forecast."""

    place: str
    days: int = 7


async def _rain(*_given: object) -> object:
    return "rain"


def stage_prompts() -> dict[str, list[Prompt]]:
    """Return the prompts of each kind of call, one for each of TEXTS."""
    made: dict[str, list[Prompt]] = {}
    for number, text in enumerate(TEXTS):
        for name, prompt in _of_row(number, text).items():
            made.setdefault(name, []).append(prompt)
    return made


def _of_row(number: int, text: str) -> dict[str, Prompt]:
    passage = SourcePassage(document_id=f"d{number}", start=0, end=len(text), text=text, lang="en")
    question = Question(id=f"q{number}", question=f"{text} When?", reference=text)
    statement = Candidate(question=question, passages=(passage,))
    inputs = {"audience": "farmers", "context": text, "question": text, "answer": text}
    critics = load_critics(critic_names())
    turn = turns_of(load_style("factoid"), Settings().build)[0]
    tags = [Tag("crop", {"maize": ("maize",), "beans": ("beans",)}), Tag("topic", None)]
    shown = [*text.split(". ")] * (number + 1)
    state = AgentState(asked=Asked(turns=(Turn("user", text),)), lang="en", today=date(2026, 11, 21))
    one = {f"critic {critic.name}": render_critics([critic], inputs, SECRET) for critic in critics}
    return one | {
        "critics": render_critics(critics, inputs, SECRET),
        "write": write_prompt((passage,), turn, 3, audience="farmers", secret=SECRET),
        "negative": write_negative(passage, "farmers", SECRET, 0, stern=False),
        "closed book": closed_book_prompt(question, SECRET),
        "facts": facts_prompt(passage, 3, SECRET),
        "change": change_prompt(statement, "entity", SECRET),
        "check": check_prompt(statement, SECRET),
        "names": names_prompt(text, SECRET),
        "translate": translation_prompt(
            [text, text * 40 * number], "en", "hi", about=None, wording=load_prompt(), secret=SECRET
        ),
        "rerank": render(_load_prompt(), text, shown, SECRET),
        "tags": tags_prompt(text, tags, SECRET),
        "user": user_prompt(Persona(name="ada", goal=text), [Turn("user", text)], SECRET),
        "plan": action_prompt(state, MENU, SECRET, 1000),
    }


MENU = menu_of(
    [Tool(name="weather", description="Weather forecast.", arguments=Weather, call=_rain)], ["crop"]
)
