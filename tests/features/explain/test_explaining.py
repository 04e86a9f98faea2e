"""Codes against the product: every one that it has is explained, and real messages lead to theirs."""

import json
import random
import re
import shlex
import socket
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest
from tests.support import house
from tests.support.command import every_command, ragstone

import ragstone as package
from ragstone.features.compare.values import Outcome
from ragstone.features.explain import _messages
from ragstone.features.explain._messages import HOLE, every_message, find_messages
from ragstone.features.explain.explaining import GROUPS, code_for, explain, explanations, known_codes
from ragstone.kernel.console import printing
from ragstone.kernel.errors import DataError, ModelError, RagstoneError, Stopped
from ragstone.kernel.records import STATUSES
from ragstone.kernel.runs.causes import Cause
from ragstone.kernel.sentences import tables

DOCS = house.ROOT / "docs"
ENTRIES = known_codes().entry


def error_classes() -> list[type[BaseException]]:
    """Return RagstoneError and every class under it in both packages."""
    for module, path in house.modules().items():
        if "Error" in path.read_text(encoding="utf-8"):
            import_module(module)
    classes: list[type[BaseException]] = [RagstoneError, Stopped]
    for kind in classes:
        classes += [each for each in kind.__subclasses__() if each not in classes]
    return [kind for kind in classes if kind.__module__.startswith("ragstone")]


def test_a_code_is_of_one_thing_and_where_a_cause_and_a_note_share_one_both_are_explained():
    plain = [(each.group, each.code.replace("_", "-")) for each in explanations()]
    assert len(plain) == len(set(plain))
    codes = [code for _, code in plain]
    assert {code for code in codes if codes.count(code) > 1} == {"judge-doubtful"}
    cause, note = explain("judge doubtful")
    assert (cause.group, note.group) == ("cause", "note")
    assert "{model}" in note.meaning
    assert "{model}" not in cause.meaning
    assert {each.group for each in explanations()} == {*GROUPS}


def test_every_class_of_errors_has_a_code():
    classes = error_classes()
    assert len(classes) > 20
    for kind in classes:
        if not kind.__name__.startswith("_"):
            assert explain(kind.__name__)[0].group in ("error", "error class"), kind


@pytest.mark.parametrize(
    ("group", "codes"),
    [
        ("status", STATUSES),
        ("cause", [cause for cause in get_args(Cause) if cause != "cannot tell"]),
        ("gate", ["cannot tell", *(f"gate {outcome}" for outcome in get_args(Outcome))]),
        ("exit code", ["0", "1", "2", "3", "4", "exit 5", "exit code 143"]),
    ],
)
def test_every_outcome_has_a_code(group, codes):
    assert [explain(code)[0].group for code in codes] == [group] * len(codes)


def test_exit_codes_are_those_of_the_command_line():
    used = {value for name, value in vars(printing).items() if name.isupper() and isinstance(value, int)}
    codes = {int(each.code.removeprefix("exit-")) for each in explanations() if each.group == "exit code"}
    assert codes == {0, *used - {printing.PIPED_WIDTH}}


def test_every_note_has_its_words_and_condition():
    for _, table in tables():
        for sentence in table:
            explanation = explain(sentence.code)[-1]
            assert (explanation.meaning, explanation.when) == (sentence.text, sentence.when)


def test_advice_is_for_notes_that_are_said():
    notes = {sentence.code for _, table in tables() for sentence in table}
    assert known_codes().advice.keys() <= notes - {each.code for each in ENTRIES if not each.meaning}


@pytest.mark.long
@pytest.mark.parametrize("entry", [each for each in ENTRIES if each.says], ids=lambda entry: entry.code)
def test_what_an_entry_quotes_is_in_a_message_of_its_class(entry):
    names = {entry.error, *_messages.PLAIN}
    kinds = {kind.__name__: kind for kind in error_classes()}
    names |= {name for name, kind in kinds.items() if issubclass(kind, kinds[entry.error])}
    for part in entry.says:
        of = {each.error for each in every_message() if part.strip().casefold() in each.shown.casefold()}
        if not of:  # a text that is handed to the function that raises
            assert any(part in path.read_text(encoding="utf-8") for path in house.modules().values()), (
                f"no message has {part!r} any more: write the new words into codes.toml"
            )
            continue
        assert of & names, f"{part!r} is of {of}"


@pytest.mark.parametrize(
    "page", sorted({each.page for each in explanations()} | {*known_codes().pages.values()})
)
def test_every_page_and_place_is_there(page):
    path, _, anchor = page.partition("#")
    text = (DOCS / path).read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
    assert not anchor or anchor in anchors


def test_every_module_that_pages_name_is_there():
    for module in known_codes().pages:
        import_module(module if module == "ragstone_assistant" else f"ragstone.{module}")


def commands_in(text: str) -> list[list[str]]:
    quoted = [*re.findall(r"`(ragstone [a-z][^`]*)`", text), *re.findall(r"(?m)^(ragstone .+)$", text)]
    quoted += re.findall(r"(?:: )(ragstone [a-z]+(?: [a-z]+)*(?: --?[\w-]+)*)", text)
    names = "|".join(every_command().commands)
    quoted += [f"ragstone {each}" for each in re.findall(rf"`((?:{names}) [^`]+)`", text)]
    return [shlex.split(command)[1:] for command in quoted]


def test_every_command_that_is_named_exists_with_its_options():
    n = 0
    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    texts = {each.code: f"{each.do}\n{each.example}\n{each.when}\n{each.meaning}" for each in explanations()}
    texts["exit codes"] = page[: page.index("**Start**")]
    for code, text in texts.items():
        for words in commands_in(text):
            node, rest = every_command(), words
            while rest and hasattr(node, "commands"):
                node, rest = node.commands.get(rest[0]), rest[1:]
                assert node is not None, (code, words)
            known = {name for option in node.params for name in (*option.opts, *option.secondary_opts)}
            used = {word for word in rest if word.startswith("-")} - {"--json"}
            assert used <= known, (code, words)
            n += 1
    assert n > 40


ANSWER = {
    "question_id": "q1",
    "system": "s",
    "question": "Is it blue?",
    "reference": "Yes.",
    "answer": "Yes.",
}


def lines(name, *rows):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    lines("a.jsonl", ANSWER)
    lines("odd.jsonl", {"x": 1})
    Path("empty.jsonl").write_text("")
    Path("bad.toml").write_text("[run\n")
    Path("typo.toml").write_text('[judge]\njugdes = ["containment"]\n')
    lines("twice.jsonl", {"id": "q1", "question": "?"}, {"id": "q1", "question": "?"})
    lines("labels.jsonl", {"question_id": "z", "system": "s", "metric": "correctness", "score": 1})
    lines("d.jsonl", {"id": "d", "text": "It is blue."})
    return tmp_path


MODEL = ["--model", "openai/gpt-4o-mini"]
JUDGE = ["judge", "a.jsonl", "--judge"]
ANSWERING = ["answer", "--questions", "twice.jsonl", "--documents", "d.jsonl", "--system", "extractive"]
MISTAKES = {
    "no-api-key": [*JUDGE, "correctness", *MODEL, "--yes"],
    "no-model": [*JUDGE, "correctness"],
    "unknown-model": [*JUDGE, "correctness", "--model", "nobody/nothing"],
    "no-price": [*JUDGE, "correctness", "--model", "openai/mine", "--budget", "1usd"],
    "bad-budget": [*JUDGE, "correctness", *MODEL, "--budget", "5"],
    "unknown-judge": [*JUDGE, "corectness"],
    "invalid-toml": ["run", "bad.toml"],
    "unknown-key": ["run", "typo.toml"],
    "settings-missing": ["run"],
    "no-such-file": ["judge", "none.jsonl", "--judge", "containment"],
    "column-missing": ["judge", "odd.jsonl", "--judge", "containment"],
    "no-rows": ["judge", "empty.jsonl", "--judge", "containment"],
    "repeated-id": ANSWERING,
    "labels-match-nothing": ["agree", "runs/a", "labels.jsonl"],
    "same-run": ["compare", "runs/a", "runs/a"],
    "filter-does-not-fit": ["export", "runs/a", "t.csv", "--where", "nobody = 1"],
    "no-ledger": ["ledger", "show"],
}


@pytest.mark.long
@pytest.mark.parametrize("code", MISTAKES)
def test_what_a_mistake_prints_leads_to_its_code(here, code):
    if "runs/a" in MISTAKES[code]:
        assert ragstone("judge", "a.jsonl", "--judge", "containment").code == 0
    ran = ragstone(*MISTAKES[code])
    assert ran.code == 2
    message = next(line for line in ran.err.splitlines() if line.startswith("ragstone: "))
    assert explain(message)[0].code == code
    wrapped = message.replace(" ", "\n", 3)
    assert explain(wrapped)[0].code == code


USAGE = [
    ["jduge", "a.jsonl"],
    ["judge", "a.jsonl", "--budgt", "5usd"],
    ["judge", "a.jsonl", "--limit", "many"],
    ["judge", "a.jsonl", "--budget"],
    ["agree"],
    ["report", "runs/a", "and", "more"],
]


@pytest.mark.parametrize("words", USAGE, ids=" ".join)
def test_a_command_that_is_not_one_is_wrong_usage(here, words):
    ran = ragstone(*words)
    assert ran.code == 2
    assert [each.code for each in explain(ran.err)] == ["exit-2"]


def test_each_message_is_listed_once(says):
    (no_file, *_) = explain("a.csv: no such file. Check the spelling and the folder that you are in.")
    says("\n".join(no_file.messages))


def test_a_port_that_is_taken(here):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        ran = ragstone("serve", "--port", other.getsockname()[1])
    assert explain(ran.err)[0].code == "port-in-use"


def filled(text: str, seed: int) -> str:
    """Return a message with names and numbers in its holes."""
    rng = random.Random(seed)
    words = ["runs/mine", "'q17'", "42", "answers.csv", "wheat and beans", "3.5", "openai/x", "a: b"]
    return re.sub(f"{HOLE}+", lambda _: rng.choice(words), text)


def test_messages_are_found_with_any_names_filled_in():
    """98 % and more of all messages: the rest have words that are part of another's."""
    known = [each for each in every_message() if len(_messages._words(_messages.plain_text(each.text))) > 3]
    sample = random.Random(1).sample(known, 300)
    found = sum(
        any(match.shown == each.shown for match in find_messages(filled(each.text, at)))
        for at, each in enumerate(sample)
    )
    assert len(known) > 1000
    assert found >= 294


OTHERS = [
    "The quick brown fox jumps over the lazy dog.",
    "Traceback (most recent call last): File main.py, line 3, in <module> import pandas as pd",
    "segmentation fault (core dumped) while the garbage collector ran",
    "What is the capital of France, and how many people live there?",
    "psycopg.OperationalError: connection to server at localhost failed",
    "npm ERR! code ELIFECYCLE npm ERR! errno 1",
    "KeyError: 'question' in step 4 of my pipeline",
    "x " * 3000,
]


@pytest.mark.parametrize("text", OTHERS)
def test_a_text_of_another_program_is_not_explained(text, says):
    with pytest.raises(DataError) as error:
        explain(text)
    says(error.value)


def test_a_message_with_changed_words_is_found_by_the_others():
    (first, *_) = explain("judged: no answer that a label matches, sorry")
    assert first.code == "labels-match-nothing"


def test_without_sources_the_quoted_parts_are_enough(monkeypatch):
    monkeypatch.setattr(_messages, "_sources", lambda: iter(()))
    for cached in (_messages.every_message, _messages._known, _messages._rarity):
        cached.cache_clear()
    try:
        assert explain("x.jsonl: the ledger is damaged (why)")[0].code == "ledger-damaged"
    finally:
        for cached in (_messages.every_message, _messages._known, _messages._rarity):
            cached.cache_clear()


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "gate-fialed",
        "",
        "  ",
        "overbudgt",
        "\0",
        "…",
        "é" * 9000,
        "exit 9",
        "../../etc/passwd",
        "{0.__class__}",
    ],
)
def test_what_is_no_code_is_refused_in_a_sentence(text, says):
    with pytest.raises(DataError) as mistake:
        explain(text)
    says(mistake.value)


def test_the_command_prints_explanations(says):
    for words in (["gate-failed"], ["over_budget"], ["exit", "3"], ["not-retrieved"], []):
        says(ragstone("explain", *words).out)


def test_a_list_fits_on_a_screen():
    shown = ragstone("explain").out.splitlines()
    assert len(shown) <= 25
    assert max(map(len, shown)) <= 80
    whole = ragstone("explain", "--all").out
    assert all(f"  {each.code} " in whole for each in explanations())


def test_json_is_what_python_gives():
    assert (
        json.loads(ragstone("explain", "timeout", "--json").out)[0]["code"]
        == package.explain("timeout")[0].code
    )
    assert len(json.loads(ragstone("explain", "--json").out)) == len(explanations())


def test_a_terminal_names_the_code_where_it_says_more(monkeypatch, says):
    printed = []
    monkeypatch.setattr(printing, "say", printed.append)

    def run(message: str, *, terminal: bool) -> list[str]:
        printed.clear()

        def command() -> None:
            raise ModelError(message)

        monkeypatch.setattr(printing.sys.stderr, "isatty", lambda: terminal, raising=False)
        with pytest.raises(printing.typer.Exit):
            printing.told_plainly(command, code_for)()
        return printed[1:]

    refused = "https://x.org/v1 refused the key (HTTP 401): bad. Check OPENAI_API_KEY."
    says("\n".join(run(refused, terminal=True)))
    assert run(refused, terminal=False) == []
    assert run("--deadline 5: give a time with its unit, e.g. 90s, 30m or 1h30m.", terminal=True) == []
