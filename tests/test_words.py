"""Words that users read are those of CONTRIBUTING's list; errors are short; options that are named exist.

What is held: the table "Words" of CONTRIBUTING over every message, help text, template, script and page; at
most 30 words per sentence in errors; options in texts and pages; one name for an option in all commands.
`words.json` records, by room, what is left from before there was a list. A count may only fall; the file goes
when all are 0.
"""

import ast
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from tests.support.house import nodes_of, tree_of

from ragstone.cli.app import app_of

ROOT = Path(__file__).parents[1]
SOURCES = [ROOT / "src" / "ragstone", ROOT / "packages" / "ragstone-assistant" / "src" / "ragstone_assistant"]
RECORD = Path(__file__).with_name("words.json")
SHOWN = {".html", ".js"}  # templates and their scripts
OLDER = {
    "decisions",
    "commands.md",
    "json.md",
    "judge-library.md",
    "python",
    "python.md",
    "sentences.md",
}  # of their day; made from the source
MOST_WORDS = 30
OPTION = re.compile(r"(?<!var\()(?<![\w{}/.<-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?![\w-]*[:(])")

# Places where a phrase is right: (phrase, file) -> why.
A_PROMPT = "a model reads it, and its words are part of a ledger key"
ALLOWED: dict[tuple[str, str], str] = {
    ("stands", "src/ragstone/kernel/corpus/model_tags.py"): A_PROMPT,
    ("stands", "src/ragstone/kernel/llm/untrusted.py"): A_PROMPT,
    ("stands", "src/ragstone/kernel/retrieval/rerank.py"): A_PROMPT,
    ("stands", "src/ragstone/kernel/systems/prompting.py"): A_PROMPT,
    ("is no object", "src/ragstone/kernel/llm/questionnaire.py"): A_PROMPT,  # what is wrong with a reply
    ("is none", "src/ragstone/kernel/llm/questionnaire.py"): A_PROMPT,
}

# A command line of another program, in a code span or on a line: its options are not ours.
PROGRAM = (
    r"(?:\w+=\S+ )*(?:python3?|pip|ray|vllm|llama-server|createdb|initdb|pytest|git|uv"
    r"|podman|docker|kubectl)\b"
)
OTHER_PROGRAM = re.compile(rf"`{PROGRAM}[^`]*`|^\W*(?:\$ )?{PROGRAM}.*(?:\\\n.*)*$", re.MULTILINE)
# Options of every command, which their table does not list.
FOR_ALL = ("--help", "--help-all", "--install-completion", "--show-completion")
# (option, file) of another program outside a command line of its -> whose it is.
OTHERS: dict[tuple[str, str], str] = {
    ("--address", "src/ragstone/kernel/engine/cluster/starting.py"): "ray start",
    ("--num-cpus", "src/ragstone/kernel/engine/cluster/starting.py"): "ray start",
    ("--no-log-samples", "src/ragstone/kernel/tables/interchange/inspect_archive.py"): "inspect eval",
    ("--no-log-samples", "src/ragstone/kernel/tables/interchange/samples.py"): "inspect eval",
    ("--log-format", "docs/how-to/interchange.md"): "inspect eval",
    ("--max-connections", "docs/how-to/coming-from.md"): "inspect eval",
    ("--layout", "docs/explanation/performance.md"): "python benchmarks/...",
    ("--only", "docs/how-to/scale.md"): "python benchmarks/...",
}
# (what, name, other name): options whose help begins alike but which are two things -> why.
SEVERAL: dict[tuple[str, str, str], str] = {}
# Words for one thing, of which our commands use one.
SYNONYMS = (
    {"--output", "--out", "--dest", "--target"},
    {"--where", "--filter", "--select"},
    {"--limit", "--max", "--max-rows", "--first"},
    {"--yes", "--assume-yes", "--no-input"},
    {"--forecast", "--dry-run", "--estimate"},
    {"--force", "--overwrite", "--replace"},
    {"--budget", "--max-cost", "--cap"},
    {"--config", "--settings", "--configuration"},
    {"--seed", "--random-state", "--random-seed"},
)


class Phrase(NamedTuple):
    """Words to avoid, what to write, and longer phrases in which they are right."""

    not_this: str
    but: str
    except_in: tuple[str, ...]

    def hits(self, text: str) -> int:
        """Return how often a text has the words, where no exception covers them."""
        found = [*words(self.not_this).finditer(text)]
        if not found:
            return 0
        fine = [hit.span() for each in self.except_in for hit in words(each).finditer(text)]
        return sum(not any(a <= hit.start() and hit.end() <= b for a, b in fine) for hit in found)


class Text(NamedTuple):
    """A piece of what users read: its room, its place, and itself."""

    room: str
    place: str
    text: str


@cache
def words(phrase: str) -> re.Pattern[str]:
    """Return what finds a phrase: whole words, in any case, across line breaks."""
    inner = r"\s+".join(map(re.escape, phrase.split()))
    return re.compile(rf"(?<!\w){inner}(?!\w)", re.IGNORECASE)


def word_list(page: str) -> list[Phrase]:
    """Return the rows of the table `not | but | except in` of a page."""
    table = page.partition("| not | but | except in |\n")[2].partition("\n\n")[0].splitlines()[1:]
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table]
    return [
        Phrase(bad, row[1], tuple(re.findall("`([^`]+)`", row[2])) if len(row) > 2 else ())
        for row in rows
        for bad in re.findall("`([^`]+)`", row[0])
    ]


PHRASES = word_list((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


def room_of(path: Path) -> str:
    """Return `kernel/tables`, `features/judge`, `cli`, `docs`: where a file belongs."""
    parts = path.relative_to(ROOT).parts
    if parts[:2] != ("src", "ragstone"):
        return "/".join(parts[:2] if parts[0] in ("packages", "docs") else parts[:1])
    return "/".join(parts[2 : 4 if parts[2] in ("kernel", "features") else 3])


def modules() -> Iterator[Path]:
    for source in SOURCES:
        yield from sorted(source.rglob("*.py"))


@cache
def texts() -> tuple[Text, ...]:
    """Return everything that a user may read, but for code's docstrings and comments."""
    found = []
    for path in modules():
        is_command = path.stem.endswith("command")
        notes = {id(node.value) for node in nodes_of(path) if isinstance(node, ast.Expr)}
        helps = {
            id(node.body[0].value)
            for node in tree_of(path).body
            if is_command and isinstance(node, ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
            if not node.name.startswith("_")
        }
        for node in nodes_of(path):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
            if is_text and id(node) not in notes - helps:
                found.append(Text(room_of(path), f"{path.relative_to(ROOT)}:{node.lineno}", node.value))
    pages = [
        path
        for source in SOURCES
        for path in sorted(source.rglob("*"))
        if path.suffix in SHOWN and "vendor" not in path.parts
    ]
    pages += [path for path in sorted((ROOT / "docs").rglob("*.md")) if not OLDER & {*path.parts}]
    for path in [*pages, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        page = path.read_text(encoding="utf-8")
        if path.name == "CONTRIBUTING.md":
            page = page.replace(page.partition("| not | but |")[2].partition("\n\n")[0], "")
        found.append(Text(room_of(path), str(path.relative_to(ROOT)), without_comments(page, path.suffix)))
    return tuple(found)


def without_comments(page: str, suffix: str) -> str:
    """Return a template or script without what only its authors read."""
    if suffix == ".html":
        page = re.sub(r"\{#.*?#\}|<!--.*?-->", "", page, flags=re.DOTALL)
    if suffix in SHOWN:
        page = re.sub(r"(?<![:\w\"'])//.*", "", re.sub(r"/\*.*?\*/", "", page, flags=re.DOTALL))
    return page


def phrases_by_room(found: Iterable[Text], phrases: Iterable[Phrase]) -> dict[str, list[str]]:
    """Return room -> `place: phrase -> better` of each hit that has no reason to be there."""
    hits: dict[str, list[str]] = defaultdict(list)
    for room, place, text in found:
        plain = " ".join(text.lower().split())
        for phrase in (each for each in phrases if each.not_this in plain):
            if (phrase.not_this, place.partition(":")[0]) not in ALLOWED:
                hits[room] += [f"{place}: {phrase.not_this} -> {phrase.but}"] * phrase.hits(text)
    return hits


# --- errors


def error_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names of RagstoneError and of all classes below it, of those among the nodes."""
    bases = [
        (node.name, {getattr(base, "id", getattr(base, "attr", "")) for base in node.bases})
        for node in nodes
        if isinstance(node, ast.ClassDef)
    ]
    names, before = {"RagstoneError"}, 0
    while len(names) > before:
        before = len(names)
        names |= {name for name, above in bases if above & names}
    return names


def error_names_of_all() -> set[str]:
    return error_names(node for path in modules() for node in nodes_of(path))


def literal(node: ast.expr) -> str:
    """Return the text of an expression, each hole of an f-string as one word."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(literal(value) if isinstance(value, ast.Constant) else "HOLE" for value in values)
        case ast.BinOp(left=left, right=right):
            return literal(left) + literal(right)
    return "HOLE"


def long_sentences(nodes: Iterable[ast.AST], errors: set[str]) -> list[tuple[int, str]]:
    """Return (line, sentence) of each sentence in a raised error of ours that has too many words."""
    found = []
    for node in nodes:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in errors:
            sentences = re.split(r"(?<=[.!?])\s+", " ".join(map(literal, node.args)))
            long = [each for each in sentences if len(re.findall(r"\w[^\s]*", each)) > MOST_WORDS]
            found += [(node.lineno, sentence) for sentence in long]
    return found


def long_by_room() -> dict[str, list[str]]:
    errors = error_names_of_all()
    hits: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        hits[room_of(path)] += [
            f"{path.relative_to(ROOT)}:{line}: {text}"
            for line, text in long_sentences(nodes_of(path), errors)
        ]
    return hits


# --- the record


def check_record(kind: str, hits: dict[str, list[str]]) -> None:
    """Check that no room has more hits than recorded. RAGSTONE_UPDATE_GOLDEN=1 lowers the record, no more."""
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
    recorded = record.get(kind, {})
    assert grown(recorded, hits) == {}, "write what follows the arrow; CONTRIBUTING.md, Words"
    if os.environ.get("RAGSTONE_UPDATE_GOLDEN") == "1" and record:
        left = {room: min(n, len(hits.get(room, []))) for room, n in recorded.items()}
        record[kind] = {room: n for room, n in left.items() if n}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def grown(recorded: dict[str, int], hits: dict[str, list[str]]) -> dict[str, tuple[int, list[str]]]:
    """Return room -> the count recorded and the places, where there are more."""
    return {
        room: (recorded.get(room, 0), places)
        for room, places in hits.items()
        if len(places) > recorded.get(room, 0)
    }


@pytest.mark.house
def test_words_to_avoid_are_not_used() -> None:
    check_record("phrases", phrases_by_room(texts(), PHRASES))


@pytest.mark.house
def test_a_sentence_of_an_error_is_short() -> None:
    check_record("long", long_by_room())


@pytest.mark.house
def test_every_exception_is_needed() -> None:
    excused = {*ALLOWED, *OTHERS}
    hits = {
        (words_or_option, file)
        for text in texts()
        for file in [text.place.partition(":")[0]]
        if any(file == each for _, each in excused)
        for words_or_option in [
            *(phrase.not_this for phrase in PHRASES if phrase.hits(text.text)),
            *unknown_options(text.text),
        ]
    }
    assert excused - hits == set()


# --- options


class Option(NamedTuple):
    """An option of a command: its names, its help, and the command."""

    command: str
    names: frozenset[str]
    help: str


@cache
def options() -> tuple[Option, ...]:
    """Return the options of all commands, hidden ones too."""
    found: list[Option] = []

    def visit(command: Any, name: str) -> None:  # noqa: ANN401 - of Typer's inside
        found.extend(
            Option(name, frozenset({*each.opts, *each.secondary_opts}), each.help or "")
            for each in command.params
            if each.param_type_name == "option"
        )
        for part, inner in getattr(command, "commands", {}).items():
            visit(inner, f"{name} {part}")

    visit(typer.main.get_command(app_of()), "ragstone")
    return tuple(found)


@cache
def options_of(command: str = "") -> frozenset[str]:
    """Return the options of a command, such as `ragstone judges new`; without one those of all."""
    return frozenset({*FOR_ALL}.union(*(each.names for each in options() if command in ("", each.command))))


def unknown_options(text: str) -> Iterator[str]:
    """Yield `--word` for options in a text that no command has, and `command --word` that this one lacks."""
    text = OTHER_PROGRAM.sub("", text)
    for hit in OPTION.finditer(text):
        if hit[0] not in options_of():
            yield hit[0]
    commands = {each.command for each in options()}
    for call in re.finditer(r"\bragstone ([a-z]+)(?: ([a-z]+))?[^`\n;|#()\"]*", text.replace("\\\n", " ")):
        names = [f"ragstone {call[1]} {call[2]}", f"ragstone {call[1]}"]
        if command := next((name for name in names if name in commands), ""):
            for hit in OPTION.finditer(call[0].split(". ")[0].split(", ")[0]):
                if hit[0] not in options_of(command):
                    yield f"{command} {hit[0]}"


@pytest.mark.house
def test_an_option_that_a_text_names_exists() -> None:
    assert [
        (text.place, option)
        for text in texts()
        for option in unknown_options(text.text)
        if (option, text.place.partition(":")[0]) not in OTHERS
    ] == []


def without_examples(told: str) -> str:
    """Return an option's help down to its examples and defaults, which may differ by command."""
    told = re.sub(r"^(?:with|for|of|in) [^:;.]*: ", "", told.lower())
    return re.split(r"[;:,(]|\be\.g\.", told)[0].strip(" .")


def names_for_one_thing(found: Iterable[Option]) -> list[tuple[str, str, str]]:
    """Return (what, name, other name) of options that different commands call differently."""
    by_help: dict[str, set[str]] = defaultdict(set)
    for option in found:
        if len(without_examples(option.help).split()) > 1:
            by_help[without_examples(option.help)].add(max(option.names, key=len))
    pairs = [(what, *pair) for what, names in by_help.items() for pair in combinations(sorted(names), 2)]
    return sorted(pair for pair in pairs if pair not in SEVERAL)


def test_one_thing_has_one_option_in_all_commands() -> None:
    assert names_for_one_thing(options()) == []
    synonyms = [names & options_of() for names in SYNONYMS]
    assert [sorted(names) for names in synonyms if len(names) > 1] == []


# --- each check can fail


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("Count anew", "again"),
        ("What the model is\ntold", "is shown"),
        ("the threshold is no number", "is not a number"),
        ("It stands in the document, which stands for others", "is"),
        ("there is no number", ""),
        ("4 times of 5", "out of 5"),
        ("understands a withstanding stand-in", ""),
    ],
)
def test_the_list_finds(text: str, better: str) -> None:
    hits = phrases_by_room([Text("cli", "cli/app.py:1", text)], PHRASES)["cli"]
    assert [better in hit for hit in hits] == [True] * (better != "")


def test_a_table_of_words_is_read() -> None:
    head = "| not | but | except in |\n| --- | --- | --- |\n"
    page = f"{head}| `a b`, `c` | d, e | `c f` |\n| `g` | h | |\n\n| `i` | j |"
    assert word_list(page) == [
        Phrase("a b", "d, e", ("c f",)),
        Phrase("c", "d, e", ("c f",)),
        Phrase("g", "h", ()),
    ]
    assert len(PHRASES) > 50


def test_comments_of_templates_and_scripts_are_not_read() -> None:
    assert without_comments("{# it stands #}<p>is</p>", ".html") == "<p>is</p>"
    assert without_comments('a("https://b") // it stands\n/* stands\n */', ".js") == 'a("https://b") \n'
    assert without_comments("// it stands", ".md") == "// it stands"


LONG = " ".join(["word"] * 29)


@pytest.mark.parametrize(
    ("call", "n"),
    [
        (f'DataError(f"{{path}}: {LONG} {{name}}.")', 1),  # 29 words and two holes
        (f'DataError("{LONG} end. {LONG}.")', 0),  # 30 and 29
        (f'DataError("{LONG} " + "of {LONG}.")', 1),
        (f'ValueError("{LONG} {LONG}")', 0),  # not shown as an error of ours
    ],
)
def test_a_long_sentence_is_counted(call: str, n: int) -> None:
    nodes = [*ast.walk(ast.parse(f"class DataError(RagstoneError): ...\nraise {call}"))]
    assert len(long_sentences(nodes, error_names(nodes))) == n


@pytest.mark.house
def test_errors_of_all_rooms_are_known() -> None:
    assert {"ConfigError", "DataError", "MissingExtra"} <= error_names_of_all()


def test_a_count_above_the_record_fails_and_one_below_does_not() -> None:
    assert grown({"cli": 1}, {"cli": ["a", "b"], "docs": [], "mcp": ["c"]}) == {
        "cli": (1, ["a", "b"]),
        "mcp": (0, ["c"]),
    }
    assert grown({"cli": 2}, {"cli": ["a"]}) == {}


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("Leave out --sytem.", ["--sytem"]),
        ("`ragstone agree a.jsonl --gate`", ["ragstone agree --gate"]),
        ("ragstone judges new a.toml --kind rubric \\\n  --gate", ["ragstone judges new --gate"]),
        ("`ragstone compare A B --gate`, then `--labels FILE`; `pip install --no-deps x`", []),
        ("$ python benchmarks/races.py --only two\nvar(--accent) --accent: red", []),
    ],
)
def test_an_unknown_option_is_found(text: str, unknown: list[str]) -> None:
    assert [*unknown_options(text)] == unknown


def test_two_names_for_one_thing_are_found() -> None:
    one = Option("ragstone a", frozenset({"-n", "--count"}), "Number of answers; default: 5.")
    other = Option("ragstone b", frozenset({"--rows"}), "Number of answers, e.g. 7.")
    assert names_for_one_thing([one, other]) == [("number of answers", "--count", "--rows")]
    assert names_for_one_thing([one, one]) == []
