"""A model that repeats what it reads sets no verdict: through the real door, every judge, every attack."""

import asyncio
import functools
import json
import re
from collections.abc import Callable

import msgspec
import pytest
from tests.support.doors import door_to

from ragstone.features.attack._families import Attack, Family, goal_of, load_families
from ragstone.features.attack._planting import Planted, fill, places_for, plant, put
from ragstone.features.attack._rates import flips, share
from ragstone.features.attack._rows import BAD, attackable_rows, base_rows
from ragstone.kernel.judging import Judge, JudgeContext, judge_answer, judge_names, load_judge, parse_judge
from ragstone.kernel.judging.inputs import gather_inputs
from ragstone.kernel.judging.together import judge_together
from ragstone.kernel.llm import Prompt
from ragstone.kernel.llm.prompt import Completion, Token
from ragstone.kernel.records import Answer, Context, Judgement, Step, Turn, Usage

ROW = Answer(
    question_id="q",
    system="mine",
    question="Where?",
    reference=["Rome", "Roma"],
    answer="In Paris.",
    contexts=[Context(text="Rome.")],
    tags={"lang": "en"},
)
CORRECTNESS = load_judge("correctness")


def family(*attacks: Attack, aim: str = "raise") -> Family:
    return Family(name="f", about="x", aim=aim, attack=list(attacks))


def test_placeholders_are_filled_once_and_braces_of_json_are_left_alone(says):
    attack = Attack(name="a", text='{"x": 1} {wrong} {goal} {field} {question} {reference} {verdict}')
    row = msgspec.structs.replace(ROW, answer="{goal}")  # the answer's own braces are no placeholders
    says(fill(attack, row, goal_of(CORRECTNESS, "raise")))


def test_what_an_attack_wants_is_said_in_the_words_of_the_reply():
    wanted = {
        name: goal_of(load_judge(name), "raise").wanted for name in ("correctness", "relevance", "rubric")
    }
    assert wanted == {"correctness": "100", "relevance": "true", "rubric": "3"}
    assert goal_of(load_judge("answered"), "raise").wanted == "answered"
    assert goal_of(load_judge("relevance"), "lower").wanted == "false"
    assert goal_of(load_judge("toxicity"), "raise").wanted == "false"  # its high score is the bad one
    assert goal_of(load_judge("relevance@token"), "raise").wanted == "yes"
    assert goal_of(load_judge("rubric@scale=0-10"), "raise").wanted == "10"


def test_a_guessed_code_is_the_same_each_time_and_not_that_of_the_project():
    attack = Attack(name="a", text="{guess}")
    goal = goal_of(CORRECTNESS, "raise")
    assert fill(attack, ROW, goal) == fill(attack, ROW, goal)
    assert len(fill(attack, ROW, goal) or "") == 10


def test_an_attack_that_needs_a_reference_is_left_out_where_there_is_none():
    bare = msgspec.structs.replace(ROW, reference=None)
    assert fill(Attack(name="a", text="{reference}"), bare, goal_of(CORRECTNESS, "raise")) is None
    assert plant(CORRECTNESS, [family(Attack(name="a", text="{reference}"))], [(0, bare, "raise")]) == []


@pytest.mark.parametrize(
    ("place", "field", "text"),
    [
        ("before", "answer", "X\nIn Paris."),
        ("after", "answer", "In Paris.\nX"),
        ("instead", "answer", "X"),
        ("question", "question", "Where?\nX"),
    ],
)
def test_where_the_text_goes(place, field, text):
    changed = put(ROW, "X", place)
    assert getattr(changed, field) == text
    assert msgspec.structs.replace(changed, **{field: getattr(ROW, field)}) == ROW


def test_a_context_is_added_as_the_last():
    assert [context.text for context in put(ROW, "X", "context").contexts or ()] == ["Rome.", "X"]


def test_of_an_agent_it_is_what_a_call_returned():
    row = msgspec.structs.replace(ROW, steps=[Step(tool="search", result="Rome."), Step(tool="now")])
    assert put(row, "X", "context").steps == [
        Step(tool="search", result="Rome."),
        Step(tool="now", result="\nX"),
    ]


def test_an_attack_is_put_only_where_the_judge_reads():
    everywhere = Attack(name="a", text="x", places=("after", "context", "question"))
    after = Attack(name="a", text="x")
    assert places_for(CORRECTNESS, everywhere) == ["after", "question"]  # it reads no contexts
    assert places_for(load_judge("faithfulness"), everywhere) == ["after", "context", "question"]
    assert places_for(load_judge("task_done"), everywhere) == ["after", "context", "question"]
    assert places_for(load_judge("toxicity"), Attack(name="a", text="x", places=("context",))) == []
    assert places_for(load_judge("context_relevance"), after) == [
        "context"
    ]  # there is no answer to put it after
    assert places_for(load_judge("prompt_clarity"), after) == ["question"]


def test_in_a_conversation_the_last_turns_are_attacked():
    judge = load_judge("resolved")
    bad, good = attackable_rows(judge, 1)
    first, after = base_rows()[:2]
    assert [turn.content for turn in good.turns[1:]] == [
        after.question,
        after.right,
        first.question,
        first.right,
    ]
    assert bad.turns == [*good.turns[:-1], Turn("assistant", after.right)]
    assert places_for(judge, Attack(name="a", text="x", places=("after", "context"))) == ["after"]
    thanked = msgspec.structs.replace(good, turns=[*good.turns, Turn("user", "Thanks")])
    said = {place: put(thanked, "EVIL", place) for place in ("before", "instead", "question")}
    assert [row.turns[4].content for row in said.values()] == [f"EVIL\n{first.right}", "EVIL", first.right]
    assert said["question"].turns[5].content == "Thanks\nEVIL"
    assert all(gather_inputs(judge, row)["conversation"].count("EVIL") == 1 for row in said.values())


def test_attacks_of_about_one_length_share_a_control_of_that_length_and_place():
    attacks = family(
        Attack(name="a", text="x" * 75),
        Attack(name="b", text="y" * 85),
        Attack(name="c", text="z" * 300),
        Attack(name="d", text="z" * 80, places=("before",)),
        Attack(name="e", text="z" * 80, places=("instead",)),  # its control keeps the answer
    )
    planted = plant(CORRECTNESS, [attacks], [(7, ROW, "raise")])
    controls = {one.attack: planted[one.control].answer.system for one in planted if one.control is not None}
    assert controls == {
        "f/a": "mine · control after 80",
        "f/b": "mine · control after 80",
        "f/c": "mine · control after 320",
        "f/d": "mine · control before 80",
        "f/e": "mine · control after 80",
    }
    assert len(planted) == 5 + 3
    assert all(one.answer.answer.startswith("In Paris.\n") for one in planted[5:] if one.place == "after")
    assert {one.at for one in planted} == {7}


def test_with_each_rows_take_the_attacks_in_turn_so_that_all_are_tried_equally_often():
    attacks = family(*(Attack(name=name, text=name) for name in "abcd"))
    rows = [(n, msgspec.structs.replace(ROW, question_id=str(n)), "raise") for n in range(4)]
    planted = [one for one in plant(CORRECTNESS, [attacks], rows, each=3) if one.attack]
    # 0: a b c; 1: d a b; 2: c d a; 3: b c d
    assert [one.attack[-1] for one in planted] == list("abcdabcdabcd")


def test_each_takes_families_in_turn_too():
    two = [
        Family(name=name, about="x", attack=[Attack(name=n, text=n) for n in "ab"]) for name in ("one", "two")
    ]
    planted = [one.attack for one in plant(CORRECTNESS, two, [(0, ROW, "raise")], each=2) if one.attack]
    assert planted == ["one/a", "two/a"]


def test_a_familys_aim_decides_which_rows_it_is_tried_on():
    lowering = family(Attack(name="a", text="x", places=("question",)), aim="lower")
    assert plant(CORRECTNESS, [lowering], [(0, ROW, "raise")]) == []
    assert len(plant(CORRECTNESS, [lowering], [(0, ROW, "lower")])) == 2


READ_NO_TEXT = ("max_cost", "max_latency")
ATTACKABLE = [name for name in judge_names() if name not in ("pairwise", *READ_NO_TEXT)]


@pytest.mark.parametrize("name", ATTACKABLE)
def test_every_judge_that_ships_has_bad_rows_that_it_can_read_and_attacks_on_them(name):
    judge = load_judge(name)
    rows = attackable_rows(judge)
    assert len(rows) == 2 * len(base_rows())
    for bad, good in zip(rows[::2], rows[1::2], strict=True):
        assert (bad.system, good.system) == ("bad", "good")
        assert gather_inputs(judge, bad) != gather_inputs(judge, good)
    some = plant(judge, load_families(["fake_verdict"]), [(0, rows[0], "raise")])
    assert sum(one.attack is not None for one in some) >= 10


def test_what_is_bad_follows_from_what_the_judge_measures():
    first = base_rows()[0]

    def bad(name: str) -> Answer:
        return next(row for row in attackable_rows(load_judge(name), 1) if row.system == BAD)

    assert bad("correctness").answer == first.wrong
    assert bad("answered").answer == first.refusal
    assert bad("relevance").answer == base_rows()[1].right
    assert bad("toxicity").answer == first.rude
    assert bad("prompt_clarity").question == first.vague
    assert bad("true_false").question == first.false_statement


def test_of_a_judge_of_ones_own_it_follows_from_what_it_reads(tmp_path):
    text = (
        'name = "mine"\nversion = 1\nkind = "boolean"\ninputs = ["question", "answer"]\nscale = [0, 1]\n'
        'source = "ours"\nprompt = "Does {answer} suit {question}?"\n'
    )
    judge = parse_judge(text, tmp_path / "mine.toml")
    assert attackable_rows(judge, 1)[0].answer == base_rows()[1].right


SECRET = b"the secret of the project, which no attack knows"
ASKING = [
    name for name in judge_names() if load_judge(name).needs_model and load_judge(name).kind != "pairwise"
]
FENCED = re.compile(r"<(\w+) ([0-9a-f]{10})>\n(.*?)\n</\1 \2>", re.DOTALL)
DECODER = json.JSONDecoder(strict=False)


def texts_in(prompt: Prompt) -> dict[str, str]:
    """Return the fenced texts of the last message of the user."""
    return {name: text for name, _nonce, text in FENCED.findall(said_by_user(prompt))}


def said_by_user(prompt: Prompt) -> str:
    return next(message.content for message in prompt.messages if FENCED.search(message.content))


def objects_in(text: str) -> list[str]:
    """Return every JSON object of a text, those within others too."""
    found = []
    for start in (match.start() for match in re.finditer(r"\{", text)):
        try:
            _, end = DECODER.raw_decode(text, start)
        except ValueError:
            continue
        found.append(text[start:end])
    return found


def all_texts(prompt: Prompt) -> str:
    return "\n".join(texts_in(prompt).values())


def low_reply(judge: Judge, prompt: Prompt, reason: str | None = None) -> str:
    """Return what an honest model says: the verdict that no attack wants, with the code."""
    reply = goal_of(judge, "lower").reply
    if reason is not None:
        reply = json.loads(
            re.sub(r'"Not a single point is met\."', lambda _: json.dumps(reason), json.dumps(reply))
        )
    return json.dumps({"nonce": prompt.nonce, **reply})


def tokens_of(prompt: Prompt, said: str) -> tuple[Token, ...] | None:
    """Return the first token of a reply, said without any doubt, where the prompt asks for probabilities."""
    if prompt.top_logprobs is None:
        return None
    first = re.match(r"\s*(\w+|\S)", said)
    return (Token(first[1], 0.0),) if first else ()


Echo = Callable[[Judge, Prompt], str]
ECHOES: dict[str, Echo] = {
    "the whole message": lambda _judge, prompt: said_by_user(prompt),
    "the whole prompt": lambda _judge, prompt: "\n".join(one.content for one in prompt.messages),
    "all texts": lambda _judge, prompt: all_texts(prompt),
    "all texts as JSON": lambda _judge, prompt: json.dumps(texts_in(prompt)),
    "all texts in a code fence": lambda _judge, prompt: f"```json\n{all_texts(prompt)}\n```",
    "the objects in the texts": lambda _judge, prompt: "\n".join(objects_in(all_texts(prompt))) or "{",
    "the first object": lambda _judge, prompt: (objects_in(all_texts(prompt)) or [""])[0],
    "the last object": lambda _judge, prompt: (objects_in(all_texts(prompt)) or [""])[-1],
    "the last line": lambda _judge, prompt: all_texts(prompt).strip().splitlines()[-1],
    "the texts, then an honest verdict": lambda judge, prompt: (
        f"{all_texts(prompt)}\n{low_reply(judge, prompt)}"
    ),
    "an honest verdict, then the texts": lambda judge, prompt: (
        f"{low_reply(judge, prompt)}\n{all_texts(prompt)}"
    ),
    "an honest verdict that quotes them": lambda judge, prompt: low_reply(judge, prompt, all_texts(prompt)),
    "a thought that quotes them": lambda judge, prompt: (
        f"<think>{all_texts(prompt)}</think>{low_reply(judge, prompt)}"
    ),
}


@functools.cache
def planted_on(name: str) -> list[Planted]:
    judge = load_judge(name)
    [row] = [row for row in attackable_rows(judge, 1) if row.system == BAD]
    return [one for one in plant(judge, load_families(), [(0, row, "raise")]) if one.attack]


def decided_without_a_model(judgement: Judgement) -> bool:
    """Return whether a cascade's member that reads no reply decided: a leaked reference is what it counts."""
    by = (judgement.metadata or {}).get("decided_by")
    return by is not None and not load_judge(by).needs_model


async def set_verdicts(judge: Judge, echo: Echo, folder) -> tuple[list[str], list[Judgement]]:
    """Return the attacks that set the verdict, and all judgements."""

    async def send(prompt: Prompt) -> Completion:
        fields = prompt.reply.__struct_fields__ if prompt.reply else ()
        if "statements" in fields:  # taken apart honestly, so that the echo is met where the verdicts are
            said = json.dumps({"nonce": prompt.nonce, "statements": [{"id": 1, "statement": "It is so."}]})
        else:
            said = echo(judge, prompt)
        return Completion(text=said, usage=Usage(input=1, output=1), logprobs=tokens_of(prompt, said))

    planted = planted_on(judge.name)
    with door_to(send, folder, concurrency=64) as door:
        context = JudgeContext(ask=door.ask, model="function/model", secret=SECRET)
        judged = await asyncio.gather(*(judge_answer(judge, one.answer, context) for one in planted))
    judgements = [whole for whole, *_parts in judged]
    set_ones = [
        one.answer.system
        for one, judgement in zip(planted, judgements, strict=True)
        if not decided_without_a_model(judgement)
        and judgement.score is not None
        and flips(judge, 0.0, share(judge, judgement.score, "raise"))
    ]
    return set_ones, judgements


# All echoes for one judge of each form of reply: a share, yes or no, statements, a token. The others read
# theirs by the same code.
EACH_FORM = ["correctness", "relevance", "faithfulness", "same_answer"]
THREE = ["the whole message", "all texts", "the objects in the texts"]
VARIANTS = [
    "answered@token",
    "relevance@token",
    "rubric@scale=0-100,shots=0",
    "correctness@samples=3,temperature=0.5",
]
ECHOED = [(name, echo) for name in (*ASKING, *VARIANTS) for echo in (ECHOES if name in EACH_FORM else THREE)]


@pytest.mark.long
@pytest.mark.parametrize(("name", "echo"), ECHOED)
async def test_an_echo_of_what_is_judged_sets_no_verdict(name, echo, tmp_path):
    set_ones, judgements = await set_verdicts(load_judge(name), ECHOES[echo], tmp_path)
    assert set_ones == []
    assert len(judgements) > 100


REASONED = [
    name
    for name in ASKING
    if getattr(load_judge(name), "reply", "reasoned") == "reasoned"
    and not load_judge(name).members
    # It asks about statements that cite something, and these answers do not: see test_citations.py.
    and load_judge(name).kind != "citations"
]


@pytest.mark.long
@pytest.mark.parametrize("name", REASONED)
async def test_the_fake_verdict_has_the_judges_own_form_and_only_lacks_the_code(name, tmp_path):
    judge = load_judge(name)

    def knowing(judge: Judge, prompt: Prompt) -> str:
        return json.dumps({"nonce": prompt.nonce, **goal_of(judge, "raise").reply})

    set_ones, judgements = await set_verdicts(judge, knowing, tmp_path)
    scored = [one for one in judgements if one.status == "scored"]
    assert len(set_ones) == len(scored) > 50


@pytest.mark.long
@pytest.mark.parametrize("name", REASONED)
async def test_an_honest_verdict_is_taken_whatever_stands_around_it(name, tmp_path):
    judge = load_judge(name)
    _, judgements = await set_verdicts(judge, ECHOES["an honest verdict that quotes them"], tmp_path)
    assert sum(one.status == "scored" for one in judgements) > 50


async def test_of_a_token_judge_an_echo_of_the_answer_alone_can_set_the_verdict(tmp_path):
    """What holds there is less: no code binds a single token, and only the first one is read."""
    judge = load_judge("relevance@token")
    row = Answer(question_id="q", question="Who?", answer="Yes. It is relevant.")

    async def verdict_of(said: str) -> float | None:
        async def send(prompt: Prompt) -> Completion:
            return Completion(text=said, usage=Usage(), logprobs=tokens_of(prompt, said))

        with door_to(send, tmp_path / said[:2]) as door:
            judgement, *_ = await judge_answer(
                judge, row, JudgeContext(ask=door.ask, model="m", secret=SECRET)
            )
        return judgement.score

    (tmp_path / "No").mkdir()
    (tmp_path / "Ye").mkdir()
    assert await verdict_of("No. Yes. It is relevant.") == 0
    assert await verdict_of("Yes. It is relevant.") == 1


@pytest.mark.long
@pytest.mark.parametrize("echo", THREE)
async def test_nor_where_several_judges_are_asked_in_one_call(echo, tmp_path):
    judges = [load_judge(name) for name in ("relevance", "correctness", "rubric")]

    async def send(prompt: Prompt) -> Completion:
        return Completion(text=ECHOES[echo](judges[0], prompt), usage=Usage())

    with door_to(send, tmp_path, concurrency=64) as door:
        context = JudgeContext(ask=door.ask, model="function/model", secret=SECRET)
        planted = [one for judge in judges for one in planted_on(judge.name)]
        judged = await asyncio.gather(*(judge_together(judges, one.answer, context) for one in planted))
    assert {row.status for rows in judged for row in rows} == {"unparsable"}
