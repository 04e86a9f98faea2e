"""Conversations of simulated users: how they go and end, what they cost, and what becomes of failures."""

import json
import threading

import msgspec
import pytest
from tests.support.fake_retriever import Answered, serving

import ragstone
from ragstone.features.simulate.conversations import UserPlan, conversation_rows, forecast_users, plan_users
from ragstone.kernel.config import (
    AnswerSection,
    ChatSystem,
    ExtractiveSystem,
    HttpSystem,
    RagSystem,
    SheetSystem,
)
from ragstone.kernel.engine.session import SessionOptions, run_in_session
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Chunk, Context, Question, Step


def user(name="ann", **given):
    return {"name": name, "goal": f"The goal of {name}", **given}


def contents(row):
    return [turn.content for turn in row.turns]


def noted(row):
    return {name: row.metadata[name] for name in ("goal_met", "n_turns", "ended")}


def settings_of(folder, fake_openai=None, **systems):
    """Return settings in which the one system that is given answers."""
    settings = fake_openai.settings(root=folder) if fake_openai else ragstone.load_settings()
    answer = AnswerSection(system=next(iter(systems)))
    return msgspec.structs.replace(settings, systems=systems, answer=answer)


def rain(messages):
    """Ask back for the place; know the weather of Nakuru."""
    said = messages[-1]["content"]
    if said == "Nakuru":
        step = {"tool": "weather", "arguments": {"place": said}, "result": "rain"}
        return {"answer": f"Rain, after {len(messages)} messages.", "contexts": ["radar"], "steps": [step]}
    return "Where is your farm?" if "rain" in said else "Hello!"


ANN = user(script=["Hi", "Will it rain?"], facts={"farm": "Nakuru"}, goal_met={"contains_any": ["rain,"]})


def test_a_conversation_is_a_row_with_its_turns_contexts_and_steps(folder):
    (row,) = ragstone.converse([ANN], system=rain)
    assert contents(row) == [
        *("Hi", "Hello!", "Will it rain?", "Where is your farm?", "Nakuru", "Rain, after 5 messages."),
    ]
    step = Step(tool="weather", arguments={"place": "Nakuru"}, result="rain")
    assert (row.question_id, row.question, row.answer) == ("ann", "The goal of ann", contents(row)[-1])
    assert (row.contexts, row.turns[-1].contexts) == ([Context(text="radar")], [Context(text="radar")])
    assert (row.steps, row.turns[-1].tool_calls) == ([step], [step])
    assert row.turns[1].tool_calls is None
    assert row.metadata == {"persona": "ann", "goal_met": True, "n_turns": 3, "ended": "goal"}


@pytest.mark.parametrize(
    ("given", "ending"),
    [
        ({"script": ["a", "b"]}, {"goal_met": None, "n_turns": 2, "ended": "silence"}),
        ({"script": ["a", "b"], "patience": 1}, {"goal_met": None, "n_turns": 1, "ended": "patience"}),
        (
            {"script": ["a"], "goal_met": {"contains_any": ["z"]}},
            {"goal_met": False, "n_turns": 1, "ended": "silence"},
        ),
        (
            {"script": ["a", "b"], "goal_met": {"contains_any": ["you said a"]}},
            {"goal_met": True, "n_turns": 1, "ended": "goal"},
        ),
    ],
)
def test_how_a_conversation_ends(folder, given, ending):
    (row,) = ragstone.converse([user(**given)], system=lambda question: f"You said {question}")
    assert noted(row) == ending


def test_a_turn_that_fails_ends_its_conversation_and_no_other(folder):
    def reply(messages):
        if messages[-1]["content"] == "boom":
            raise ValueError("no such field")
        return "ok"

    users = [user("ann", script=["a", "boom", "c"]), user("ben", script=["a", "b"])]
    failed, well = ragstone.converse(users, system=reply)
    assert contents(failed) == ["a", "ok", "boom"]
    assert (failed.answer, noted(failed)) == ("", {"goal_met": None, "n_turns": 2, "ended": "error"})
    assert "no such field" in failed.error
    assert (noted(well)["ended"], well.error) == ("silence", None)


def test_samples_are_conversations_of_their_own_with_calls_of_their_own(folder):
    calls, lock = [], threading.Lock()

    def reply(messages):
        with lock:
            calls.append(messages)
        return "ok"

    rows = ragstone.converse([user(script=["a", "b"])], system=reply, samples=3)
    assert [row.question_id for row in rows] == ["ann", "ann~2", "ann~3"]
    assert {row.metadata["persona"] for row in rows} == {"ann"}
    assert len(calls) == 6


def test_a_function_of_the_row_knows_the_conversation_and_one_of_the_text_the_last_turn(folder, says):
    def of_row(question: Question):
        thread = question.metadata["thread"]
        return f"{question.id} {thread['id']} {len(thread.get('turns', []))} {question.lang}"

    (row,) = ragstone.converse([user(script=["a", "b"], language="sw")], system=of_row)
    says(contents(row)[1::2])
    (row,) = ragstone.converse([user(script=["a", "b"])], system=lambda text: text.upper())
    assert contents(row)[1::2] == ["A", "B"]


@pytest.mark.long
def test_three_hundred_talk_at_once_and_a_second_time_from_the_ledger_alone(folder):
    (folder / "app_of_users.py").write_text(
        "import pathlib\n"
        "async def reply(messages):\n"
        "    with pathlib.Path('calls').open('a') as file:\n"
        "        file.write('x')\n"
        "    return f\"{len(messages)} {messages[-1]['content']}\"\n"
    )
    users = [user(f"u{n}", script=[f"{n} a", "b", "c"]) for n in range(300)]
    first = ragstone.converse(users, system="app_of_users:reply")
    assert (folder / "calls").stat().st_size == 900
    assert contents(first[299]) == ["299 a", "1 299 a", "b", "3 b", "c", "5 c"]
    assert ragstone.converse(users, system="app_of_users:reply", offline=True) == first
    assert (folder / "calls").stat().st_size == 900


def test_a_budget_ends_conversations_and_the_next_run_goes_on(folder, fake_openai):
    settings = settings_of(folder, fake_openai, bot=ChatSystem(model="openai/fake"))
    users = [user(script=["a", "b", "c"])]
    (cut,) = ragstone.converse(users, settings=settings, budget="2calls")
    assert len(contents(cut)) == 5
    assert cut.error.startswith("over_budget")
    before = fake_openai.n_requests
    (row,) = ragstone.converse(users, settings=settings)
    assert (fake_openai.n_requests - before, noted(row)["ended"]) == (1, "silence")


def test_a_chat_system_is_sent_every_turn(folder, fake_openai):
    fake_openai.script = lambda body: f"reply {len(body['messages'])}"
    bot = ChatSystem(model="openai/fake", instructions="Be brief.")
    (row,) = ragstone.converse([user(script=["a", "b"])], settings=settings_of(folder, fake_openai, bot=bot))
    assert contents(row) == ["a", "reply 2", "b", "reply 4"]
    assert [one["role"] for one in fake_openai.bodies[-1]["messages"]] == [
        *("system", "user", "assistant", "user"),
    ]
    assert (row.usage.calls, row.system) == (2, "bot")


def test_the_built_in_applications_search_for_each_turn(folder, fake_openai):
    texts = ["Wheat is sown in October.", "Maize roots reach 1.7 m."]
    chunks = [
        Chunk(id=f"c{n}", document_id="d", text=text, start=0, end=len(text)) for n, text in enumerate(texts)
    ]
    users = [user(script=["When is wheat sown?", "How deep do maize roots reach?"])]
    (row,) = ragstone.converse(users, system="extractive", chunks=chunks)
    assert contents(row)[1::2] == texts
    assert [turn.contexts[0].id for turn in row.turns[1::2]] == ["c0", "c1"]
    rag = RagSystem(model="openai/fake", prompt="bare", retriever="bm25", k=1)
    ragstone.converse(users, settings=settings_of(folder, fake_openai, rag=rag), chunks=chunks)
    shown = fake_openai.bodies[-1]["messages"][-1]["content"]
    assert "user: When is wheat sown?" in shown
    assert "Maize roots" in shown


def plays(*moves):
    """Return a script of the endpoint that plays a user; a system that asks it too is told "ok"."""
    left = list(moves)

    def script(body):
        if "response_format" not in body:
            return "ok"
        message, met = left.pop(0)
        nonce = body["messages"][-1]["content"].rpartition('"')[0].rpartition('"')[2]
        return json.dumps({"nonce": nonce, "thought": "t", "goal_met": met, "message": message})

    return script


@pytest.mark.parametrize(
    ("moves", "given", "said", "ending"),
    [
        # The model's word counts; its last one is asked for after the last reply, and its text is not said.
        ([("a", False), ("", True)], {}, ["a", "A"], {"goal_met": True, "n_turns": 1, "ended": "goal"}),
        (
            [("a", False), ("b", False), ("c", False)],
            {"patience": 2},
            ["a", "A", "b", "B"],
            {"goal_met": False, "n_turns": 2, "ended": "patience"},
        ),
        ([("a", False), ("", False)], {}, ["a", "A"], {"goal_met": False, "n_turns": 1, "ended": "silence"}),
        # Nothing was answered yet, so nothing can be met.
        ([("a", True), ("", True)], {}, ["a", "A"], {"goal_met": True, "n_turns": 1, "ended": "goal"}),
        # What the file waits for goes before the model's word, and saves the last call.
        (
            [("a", False), ("b", True)],
            {"patience": 2, "goal_met": {"contains_any": ["z"]}},
            ["a", "A", "b", "B"],
            {"goal_met": False, "n_turns": 2, "ended": "patience"},
        ),
        ([("", False)], {}, [], {"goal_met": None, "n_turns": 0, "ended": "error"}),
    ],
)
def test_a_model_plays_the_user(folder, fake_openai, moves, given, said, ending):
    fake_openai.script = plays(*moves)
    settings = fake_openai.settings(root=folder)
    (row,) = ragstone.converse([user(**given)], system=str.upper, user_model="openai/fake", settings=settings)
    assert (contents(row), noted(row)) == (said, ending)
    assert fake_openai.n_requests == len(moves)


def test_a_model_that_fails_to_play_costs_its_own_conversation_alone(folder, fake_openai, says):
    fake_openai.script = lambda body: "no JSON at all"
    users = [user("ann"), user("ben", script=["a"])]
    ann, ben = ragstone.converse(
        users, system=str.upper, user_model="openai/fake", settings=fake_openai.settings(root=folder)
    )
    says(ann.error)
    assert noted(ann) == {"goal_met": None, "n_turns": 0, "ended": "error"}
    assert contents(ben) == ["a", "A"]


def test_over_http_the_conversation_or_its_id_is_sent(folder):
    with serving() as fake:
        fake.script = lambda asked: {"text": "ok", "id": 7, "did": [{"name": "look", "args": {"k": 1}}]}
        shared = {"url": fake.url, "answer": "$.text", "steps": "$.did"}
        request = {"all": "{messages}", "id": "{conversation_id}"}
        whole = HttpSystem(request=request, **shared)
        (row,) = ragstone.converse([user(script=["a", "b"])], settings=settings_of(folder, whole=whole))
        assert fake.asked[1].body == {
            "all": [
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": "ok"},
                {"role": "user", "content": "b"},
            ],
            "id": "ann",
        }
        assert row.steps == [Step(tool="look", arguments={"k": 1})] * 2
        own = HttpSystem(
            request={"q": "{question}", "id": "{conversation_id}"}, conversation_id="$.id", **shared
        )
        # The same words said twice are two calls: the second goes on with another conversation.
        ragstone.converse([user(script=["a", "a"])], settings=settings_of(folder, own=own))
        assert [one.body for one in fake.asked[2:]] == [{"q": "a", "id": None}, {"q": "a", "id": "7"}]


def test_a_conversation_that_the_server_has_forgotten_is_that_ones_failure(folder):
    with serving() as fake:
        fake.script = lambda asked: (
            {"answer": "ok", "id": "c"} if asked.body["id"] is None else Answered(404, b"no conversation")
        )
        own = HttpSystem(
            url=fake.url,
            request={"q": "{question}", "id": "{conversation_id}"},
            conversation_id="$.id",
        )
        (row,) = ragstone.converse([user(script=["a", "b"])], settings=settings_of(folder, own=own))
    assert contents(row) == ["a", "ok", "b"]
    assert "404" in row.error


@pytest.mark.parametrize(
    ("users", "given", "message"),
    [
        ([user()], {}, "the persona 'ann' has no script. Name the model"),
        ([user(script=["a"])], {"model": "openai/fake"}, "every persona has a script"),
        ([user(script=["a"])], {"samples": 0}, "samples = 0"),
        ([], {}, "there is no user"),
        ([user(script=["a"]), user(script=["b"])], {}, "2 personas are named 'ann'"),
        ([user(script=["a"], gaol="x")], {}, "unknown key 'gaol'. Did you mean 'goal'"),
    ],
)
def test_users_that_cannot_be_are_told_before_anybody_is_asked(folder, users, given, message):
    with pytest.raises(ConfigError, match=message.replace("[", r"\[")):
        plan_users(users, ragstone.load_settings(), **given)


def test_a_sheet_cannot_talk_and_a_batch_is_refused(folder, says):
    settings = settings_of(folder, old=SheetSystem(path="answers.jsonl"))
    with pytest.raises(ConfigError) as error:
        plan_users([user(script=["a"])], settings)
    says(error.value)
    settings = settings_of(folder, mine=ExtractiveSystem())
    plan = plan_users([user(script=["a"])], settings)

    async def work(session):
        return [row async for row in conversation_rows(plan, session)]

    with pytest.raises(ConfigError, match="leave out --batch"):
        run_in_session(settings, SessionOptions(batch=True), work)


def test_a_forecast_counts_every_turn_that_there_can_be(folder, fake_openai):
    settings = settings_of(folder, fake_openai, bot=ChatSystem(model="openai/fake", max_tokens=10))
    users = [
        # Met by anything, yet it may take both turns, and one more for the fact.
        user("ann", script=["a", "b"], facts={"town": "Nakuru"}, goal_met={"regex": "."}),
        user("ben", patience=3),
    ]
    plan: UserPlan = plan_users(users, settings, model="openai/fake")
    forecast = forecast_users(plan, settings)
    # ann: 3 replies. ben: 3 turns, 3 replies, and the question whether the goal is met at last.
    assert forecast.calls == 3 + 3 + 3 + 1
    assert fake_openai.n_requests == 0
