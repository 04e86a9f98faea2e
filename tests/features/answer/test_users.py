"""`ragstone answer --users`: what is written, shown, compared with a log, and refused."""

import json
from pathlib import Path

import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in

from ragstone.features.simulate._persona import load_personas
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows

EXAMPLE = Path(__file__).parents[3] / "examples" / "assistant" / "personas.toml"
PERSONAS = """
[[personas]]
name = "ann"
goal = "Know when to sow"
script = ["Hello", "When do I sow?"]
goal_met = { contains_any = ["May"] }

[[personas]]
name = "ben"
goal = "Know the price"
script = ["What is the price?"]
goal_met = { contains_any = ["5 euros"] }
"""


@pytest.fixture
def project(folder):
    """A folder with an application that answers the first persona, and a log of people's questions."""
    (folder / "personas.toml").write_text(PERSONAS)
    (folder / "chat_of_answer.py").write_text(
        "def reply(messages):\n    return 'In May.' if 'sow' in messages[-1]['content'] else 'Hm.'\n"
    )
    (folder / "log.jsonl").write_text("".join(f'{{"question": "How is field {n}?"}}\n' for n in range(20)))
    return folder


def converse(*options):
    return ragstone("answer", "--users", "personas.toml", "--system", "chat_of_answer:reply", *options)


def test_the_goals_that_were_met_are_shown_and_written(project, says):
    ran = converse()
    assert ran.code == 0
    says(sentence_in(ran.out, "goal met:"))
    says(sentence_in(ran.out, "Goal not met"))
    says(ran.err.splitlines()[-1])
    ann, ben = read_rows("answers.jsonl", Answer)
    assert [turn.content for turn in ann.turns] == ["Hello", "Hm.", "When do I sow?", "In May."]
    assert ben.metadata == {"persona": "ben", "goal_met": False, "n_turns": 1, "ended": "silence"}


def test_run_again_from_the_ledger_alone_the_file_has_the_same_bytes(project, says):
    assert converse().code == 0
    before = Path("answers.jsonl").read_bytes()
    again = converse("--offline", "-o", "again.jsonl")
    assert again.code == 0
    says(again.err)
    assert Path("again.jsonl").read_bytes() == before


def test_json_tells_goals_and_likeness(project):
    ran = converse("--like", "log.jsonl", "--samples", "2", "--json")
    told = json.loads(ran.out)
    assert (told["goals"]["n"], told["goals"]["n_personas"]) == (4, 2)
    assert told["likeness"]["n_log"] == 20
    words = next(one for one in told["likeness"]["measures"] if one["name"] == "words a turn")
    # Users: 1, 4 and 4 words, each twice; the log: 4 words each time.
    assert (words["users"]["value"], words["log"]["value"]) == (3.0, 4.0)


def test_the_users_beside_a_log_are_a_table(project, says):
    ran = converse("--like", "log.jsonl")
    says(ran.out)


def test_limit_takes_the_first_personas(project):
    assert "1 conversation in" in converse("--limit", "1").err


def test_every_conversation_failed_is_exit_code_5(project, says):
    (project / "chat_that_fails.py").write_text("def reply(messages):\n    raise ValueError('down')\n")
    ran = converse("--system", "chat_that_fails:reply")
    assert ran.code == 5
    says(ran.err)
    says(ran.out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--users", "none.toml", "--system", "chat_of_answer:reply"], "none.toml: no such file"),
        (["--users", "personas.toml", "--system", "chat_of_answr:reply"], "chat_of_answr"),
        (["--users", "personas.toml"], "no model to answer with"),
        (
            ["--users", "personas.toml", "--questions", "q.jsonl"],
            "--questions has no meaning with --users",
        ),
        (["--questions", "log.jsonl", "--like", "log.jsonl"], "--like needs --users"),
        (["--questions", "log.jsonl", "--samples", "2"], "--samples needs --users"),
        (["--questions", "log.jsonl", "--user-model", "openai/x"], "--user-model needs --users"),
        (
            ["--users", "personas.toml", "--user-model", "openai/x", "--system", "chat_of_answer:reply"],
            "every persona has a script",
        ),
        (
            ["--users", "personas.toml", "--like", "no.jsonl", "--system", "chat_of_answer:reply"],
            "no.jsonl: no such file",
        ),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(project, options, message):
    ran = ragstone("answer", *options)
    assert ran.code == 2
    assert message in ran.err
    assert not Path("answers.jsonl").exists()


def test_the_personas_of_the_example_can_be_read_and_each_has_an_end(folder):
    personas = load_personas(EXAMPLE)
    assert len(personas) == 12
    assert all(one.script and one.goal_met for one in personas)
