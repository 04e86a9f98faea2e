"""Whether the planners choose the action that a person would: 89 labelled turns in six languages.

Run: python benchmarks/planning.py                                 # words, with the packaged embedder
     python benchmarks/planning.py --turns planning_heldout.jsonl  # 32 that no rule was changed for
     python benchmarks/planning.py --turns planning_two_domains.jsonl   # 140 of a farm and of a web framework
     python benchmarks/planning.py --turns planning_two_domains_heldout.jsonl   # 60 more, looked at once
     python benchmarks/planning.py --model llamacpp/smollm2-135m --limit 25   # spread evenly

A turn is right if the action is one of those that the label allows, and if the arguments that it names are
there: of `missing` one is enough, a name may be part of another ("wheat" in "spring wheat"). Only the first
action of a reply is looked at; greetings are told before a planner is asked.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples" / "assistant"
sys.path.insert(0, str(EXAMPLES))  # where its tools are

from farm_tools.crops import crops_tool  # noqa: E402
from farm_tools.open_meteo import WeatherOptions  # noqa: E402
from farm_tools.videos import videos_tool  # noqa: E402
from farm_tools.weather import weather_tool  # noqa: E402
from ragstone.kernel.config import AssistantSection, Settings  # noqa: E402
from ragstone.kernel.corpus.tags import Tag, load_tags  # noqa: E402
from ragstone.kernel.embedding.gathering import Gathered  # noqa: E402
from ragstone.kernel.embedding.opening import open_embedder  # noqa: E402
from ragstone.kernel.engine.session import open_session  # noqa: E402
from ragstone.kernel.llm import CallFailed, Prompt, Reply  # noqa: E402
from ragstone.kernel.records import Turn  # noqa: E402
from ragstone_assistant._domain import Domain, load_domain  # noqa: E402
from ragstone_assistant._scope import scope_guard  # noqa: E402
from ragstone_assistant.answering.answering import Answering  # noqa: E402
from ragstone_assistant.answering.documents import documents_tool  # noqa: E402
from ragstone_assistant.answering.prompting import load_answering_prompt  # noqa: E402
from ragstone_assistant.conversation import Asked, Passage  # noqa: E402
from ragstone_assistant.planning.actions import Menu, menu_of, read_arguments  # noqa: E402
from ragstone_assistant.planning.loop import MOST_ASKED, conversation_language, n_asked  # noqa: E402
from ragstone_assistant.planning.model import model_chooser  # noqa: E402
from ragstone_assistant.planning.slots import courtesy_in, know_by_words  # noqa: E402
from ragstone_assistant.planning.state import AgentState, Choose, ChosenAction  # noqa: E402
from ragstone_assistant.planning.words import words_chooser  # noqa: E402
from ragstone_assistant.tool import Tool  # noqa: E402

TODAY = date(2026, 11, 21)
FARM = load_domain(AssistantSection(), EXAMPLES / "texts")
DOCS = load_domain(
    AssistantSection(
        title="Phoenix documentation",
        scope="the Phoenix web framework: routing, controllers, templates, channels, databases, deployment",
        examples=["How do I create a project?", "What is a plug?"],
    ),
    None,
)
DOMAINS = {"farm": FARM, "docs": DOCS}


class Labelled(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A conversation, the user's turn first and last, and what should be done next.

    action: any of these is right. arguments: that must be there. holds: texts that some argument must hold.
    domain: a farm's assistant with its four tools, or one of a web framework, which only searches documents.
    """

    domain: str = "farm"
    lang: str
    turns: list[str]
    action: list[str]
    arguments: dict[str, Any] = {}
    holds: list[str] = []


Found = tuple[Labelled, str, ChosenAction]


def labelled(name: str) -> list[Labelled]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=Labelled) for line in lines]


def state_of(one: Labelled, known: Any) -> AgentState:  # noqa: ANN401 - a function
    turns = [Turn("assistant" if n % 2 else "user", text) for n, text in enumerate(one.turns)]
    asked = Asked(turns=tuple(turns))
    return AgentState(
        asked=asked,
        lang=conversation_language(asked),
        today=TODAY,
        domain=DOMAINS[one.domain],
        known=known(asked),
        may_ask=n_asked(asked) < MOST_ASKED,
    )


async def outcome(one: Labelled, choose: Choose, menu: Menu, known: Any) -> tuple[str, ChosenAction]:  # noqa: ANN401
    """Return "right", or what is wrong: the language, the action, its arguments, or the form of the reply."""
    state = state_of(one, known)
    if state.lang != one.lang:
        return "language", ChosenAction(action=state.lang)
    if courtesy_in(state.asked.question, state.lang, DOMAINS[one.domain]):
        chosen = ChosenAction(action="greeting")
    else:
        try:
            chosen = await choose(state)
        except CallFailed as failure:
            return "form", ChosenAction(action=failure.status)
    if chosen.action not in one.action:
        return "action", chosen
    if chosen.action != "greeting":
        try:
            read_arguments(menu, chosen.action, chosen.arguments)
        except ValueError:
            return "arguments", chosen
    return "right" if fits(chosen, one) else "arguments", chosen


def fits(chosen: ChosenAction, one: Labelled) -> bool:
    said = " ".join(str(value) for value in chosen.arguments.values()).casefold()
    for name, wanted in one.arguments.items():
        given = chosen.arguments.get(name)
        if isinstance(wanted, list):
            if not set(wanted) & set(given if isinstance(given, list) else ()):
                return False
        elif str(wanted).casefold() not in str(given).casefold():
            return False
    return all(text.casefold() in said for text in one.holds)


async def no_search(*_: object) -> list[Passage]:
    raise NotImplementedError("only the choice is measured")


async def no_stream(_prompt: Prompt, _on_text: object) -> Reply:
    raise NotImplementedError("only the choice is measured")


def made_tools(weather: Tool, tags: list[Tag], embed: Any) -> list[Tool]:  # noqa: ANN401
    return [
        search_tool(FARM, tags, embed),
        weather,
        crops_tool(EXAMPLES / "crops.csv"),
        videos_tool(EXAMPLES / "videos.csv", embed),
    ]


def search_tool(domain: Domain, tags: list[Tag], embed: Any) -> Tool:  # noqa: ANN401
    answering = Answering(
        stream=no_stream,
        prompt=load_answering_prompt("cited"),
        secret=b"s" * 32,
        embed=embed,
        context_tokens=8192,
    )
    return documents_tool(no_search, answering, k=5, tags=tags, examples=domain.searches())


def tell(title: str, found: list[Found], seconds: float, *, wrong: bool) -> None:
    print(f"\n{title}: {len(found)} turns, {seconds / len(found):.2f} s a turn")
    counts = Counter(what for _one, what, _chosen in found)
    print("  " + ", ".join(f"{what} {n}" for what, n in counts.most_common()))
    for key in ("domain", "lang", "action"):
        groups: dict[str, list[bool]] = {}
        for one, what, _chosen in found:
            group = one.action[0] if key == "action" else getattr(one, key)
            groups.setdefault(group, []).append(what == "right")
        print("  " + "  ".join(f"{group} {sum(marks)}/{len(marks)}" for group, marks in groups.items()))
    if wrong:
        for one, what, chosen in found:
            if what != "right":
                print(
                    f"  {what:10} {one.turns[-1][:60]:60} {one.action} <- {chosen.action} {chosen.arguments}"
                )


async def measured(turns: list[Labelled], model: str | None) -> tuple[list[Found], float]:
    """Return what became of each turn, and the seconds that all of them took; model None: by words."""
    tags = load_tags(EXAMPLES / "tags.toml")
    with tempfile.TemporaryDirectory() as folder:
        settings, embedder = Settings(root=folder), open_embedder("packaged")
        async with open_session(settings) as session, weather_tool(WeatherOptions()) as weather:
            ask = await session.models.ask(model) if model else None

            def planner(name: str) -> tuple[Choose, Menu, Any]:
                domain, own = DOMAINS[name], tags if name == "farm" else []
                tools = made_tools(weather, own, embedder) if own else [search_tool(domain, own, embedder)]
                menu = menu_of(tools, domain.slots)
                if ask is not None:
                    choose = model_chooser(menu, ask, secret=b"s" * 32, budget=1500)
                else:
                    guard = scope_guard(domain, [], embedder)
                    choose = words_chooser(menu.tools, Gathered(embedder), guard)
                return choose, menu, know_by_words(own, domain)

            planners = {name: planner(name) for name in dict.fromkeys(one.domain for one in turns)}
            await outcome(turns[0], *planners[turns[0].domain])  # the model is loaded, the examples embedded
            started = time.perf_counter()
            found = []
            for one in turns:
                found.append((one, *await outcome(one, *planners[one.domain])))
                print(".", end="", file=sys.stderr, flush=True)
            return found, time.perf_counter() - started


async def measured_by_words(turns: list[Labelled]) -> list[Found]:
    found, _seconds = await measured(turns, None)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help="asked in place of the planner by words")
    parser.add_argument("--limit", type=int, help="of this many turns, evenly spread")
    parser.add_argument("--turns", default="planning_turns.jsonl", help="or planning_heldout.jsonl")
    parser.add_argument("--wrong", action="store_true", help="show what was not right")
    given = parser.parse_args()
    turns = labelled(given.turns)
    step = len(turns) / (given.limit or len(turns))
    turns = [turns[int(n * step)] for n in range(given.limit or len(turns))]
    found, seconds = asyncio.run(measured(turns, given.model))
    tell(given.model or "words", found, seconds, wrong=given.wrong)


if __name__ == "__main__":
    main()
