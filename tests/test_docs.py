"""Every code block of README and docs runs, and the parts that are made from the code are current.

The blocks of a page run in order, in one folder: that of `ragstone new`, with a few files more (see
`folder`). Every model is the fake endpoint. A line of `sh` that is neither run nor known fails, and so does a
block of an unknown kind. A block whose paragraph says "Save this as `NAME`:" is written to that file. A block
of kind `text checked` is what the block before it prints (on standard error, if it prints no result); a line
"…" stands for lines left out.
"""

import ast
import asyncio
import csv
import importlib
import inspect
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, get_args

import msgspec
import pytest
from tests.support.command import every_command
from tests.support.decision_server import DecisionServer
from tests.support.fake_openai import FakeOpenAI
from tests.support.scripted_facts import wants_facts, write_facts
from tests.support.scripted_writer import write_questions

import ragstone
from ragstone.features.build._critic import parse_critic
from ragstone.features.build._styles import parse_style
from ragstone.features.doctor.command import SEPARATE
from ragstone.features.new.starter import copy_starter
from ragstone.features.simulate._persona import load_personas
from ragstone.kernel import records
from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.console import printing as console
from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.judging.judge import parse_judge
from ragstone.kernel.llm import door
from ragstone.kernel.llm._decisions import open_decisions
from ragstone.kernel.llm._openai import open_openai
from ragstone.kernel.llm.providers import Provider, providers
from ragstone.kernel.llm.transport import Where
from ragstone.kernel.systems.prompting import load_prompt
from ragstone.kernel.tables import read_rows, write_rows
from ragstone.kernel.tables.reading import parse_row

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
OWN_TEST = DOCS / "tutorials"  # tests/test_tutorials.py
WITH_BLOCKS = [
    page
    for page in PAGES
    if "```" in page.read_text(encoding="utf-8") and (page.parent != OWN_TEST or page.stem == "examples")
]

FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>```+)(?P<kind>.*)\n(?P<text>(?:.*\n)*?)(?P=indent)(?P=fence) *$", re.MULTILINE
)
SAVED = re.compile(r"\bSave\s(?:this|it)\sas\s`([^`]+)`[^`]*:\s*\Z")
EXIT_CODE = re.compile(r"#.*\bexit code (\d)")
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")
OURS = re.compile(r"https://(?:raw\.githubusercontent|github)\.com/ragstone/ragstone/(?:blob/|tree/)?main/")
IMAGE = re.compile(r"!\[([^]]*)]\(([^)]+)\)|<img src=\"([^\"]+)\" alt=\"([^\"]*)\"")

# Programs that a reader may have and the tests have not.
ELSEWHERE = {"docker", "jupyter", "llama-server", "ollama", "vllm"}


class Block(NamedTuple):
    """A fenced block: its kind, its text, and the paragraph that it follows."""

    kind: str
    text: str
    before: str


def blocks_of(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page; those in a list are moved to the margin."""
    for found in FENCE.finditer(page):
        width = len(found["indent"])
        text = "".join(line[width:] for line in found["text"].splitlines(keepends=True))
        yield Block(found["kind"].strip(), text, page[: found.start()].rstrip().rpartition("\n\n")[2])


@pytest.fixture
def folder(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fake_openai: FakeOpenAI,
    decision_server: DecisionServer,
) -> Path:
    """A reader's folder: the starter files, a sheet of answers, people's labels of it, and some manuals."""

    def open_fake(provider: Provider, model: str, settings: ModelSettings, where: Where) -> object:
        there = msgspec.structs.replace(settings, base_url=fake_openai.base_url, api_key_env=None)
        return open_openai(providers()["openai"], model, there, where)

    def open_decider(provider: Provider, _model: str, settings: ModelSettings, where: Where) -> object:
        there = msgspec.structs.replace(settings, base_url=decision_server.base_url, api_key_env=None)
        return open_decisions(provider, "planted", there, where)

    for transport in door.TRANSPORTS:
        opened = open_decider if transport == "systemone" else open_fake
        monkeypatch.setitem(door.TRANSPORTS, transport, opened)
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    monkeypatch.setenv("OPENAI_MODEL", "gpt-4o-mini")
    monkeypatch.chdir(tmp_path)
    console.console.cache_clear()
    copy_starter(tmp_path, "openai/gpt-4o-mini")
    fake_openai.script = lambda body: (write_facts if wants_facts(body) else write_questions)(body)
    contexts = [records.Context(text="A passage that the answer was made from.", document_id="agxqa-1")]
    answers = list(islice(read_rows("labelled.jsonl", records.Answer), 20))
    sheet = [msgspec.structs.replace(answer, contexts=contexts, metadata=None) for answer in answers]
    write_rows("answers.jsonl", sheet, records.Answer)
    write_rows("labels.jsonl", islice(read_rows("labelled.jsonl", records.Label), 20), records.Label)
    others = shutil.ignore_patterns("runs", "assistant", "notebooks", ".ragstone", "__pycache__")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=others)
    (tmp_path / "manuals").mkdir()
    (tmp_path / "manuals" / "wheat.md").write_text("# Wheat\n\nWheat is sown in October.\n")
    return tmp_path


@pytest.mark.docs
@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_of_the_page_runs(page, folder, capsys):
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in blocks_of(page.read_text(encoding="utf-8")):
        assert block.kind in KINDS, (
            f"{page.name}: a block of the unknown kind {block.kind!r}: {block.text[:80]}"
        )
        if block.kind == "text checked":
            check_printed(page, block, printed)
        try:
            KINDS[block.kind](block, names)
        except Exception as mistake:
            said = capsys.readouterr()
            raise AssertionError(f"{page.name}: {mistake}\n{block.text}\n{said.out}{said.err}") from mistake
        said = capsys.readouterr()
        printed = said.out or said.err
        save(block)


def check_printed(page: Path, block: Block, printed: str) -> None:
    """Check that a block is what was printed or, around lines "…", parts of it in their order.

    RAGSTONE_UPDATE_GOLDEN=1 writes anew what is shown whole.
    """
    if "\n…\n" in f"\n{block.text}":
        rest = "\n".join(timeless(printed))
        for part in filter(str.strip, f"\n{block.text}".split("\n…\n")):
            found = "\n".join(timeless(part.strip("\n")))
            assert found in rest, (
                f"{page.name} shows what is not printed now, in this order:\n{part}\n\n{rest}"
            )
            rest = rest.partition(found)[2]
    elif os.environ.get("RAGSTONE_UPDATE_GOLDEN") == "1":
        assert block.text.strip(), f"{page.name}: write a word into the block that is to be filled"
        shown = "".join(f"{line}\n" for line in lines_of(printed))
        page.write_text(page.read_text(encoding="utf-8").replace(block.text, shown), encoding="utf-8")
    else:
        shown = "if this is meant: RAGSTONE_UPDATE_GOLDEN=1 pytest tests/test_docs.py"
        assert timeless(block.text) == timeless(printed), (
            f"{page.name} does not show what is printed now; {shown}"
        )


def lines_of(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def timeless(text: str) -> list[str]:
    """Return the lines without what something took: it differs from run to run, and so do widths."""
    return [re.sub(r"\b[\d.]+ m?s\b", "… s", re.sub(r" {2,}", "  ", line)) for line in lines_of(text)]


def save(block: Block) -> None:
    """Write a block to the file that the paragraph before it names, if it does."""
    name = SAVED.search(block.before)
    if name:
        Path(name[1]).parent.mkdir(parents=True, exist_ok=True)
        Path(name[1]).write_text(block.text, encoding="utf-8")


def run_shell(block: Block, _names: dict[str, object]) -> None:
    """Run the lines of a block one after the other; `cd` holds for the blocks after it too."""
    for line in block.text.replace("\\\n", " ").splitlines():
        expected = EXIT_CODE.search(line)
        for command in re.split(r"\s&&\s", line):
            words = shlex.split(command, comments=True)
            while words and re.match(r"\w+=", words[0]):
                words = words[1:]
            if words:
                run_command(words, int(expected[1]) if expected else 0)


def run_command(words: list[str], expected: int) -> None:
    """Run a command of ours, or check one of another program's. Raises AssertionError."""
    if ">" in words:
        Path(words[-1]).touch()
        words = words[: words.index(">")]
    match words:
        case ["ragstone", *arguments]:
            code = run_ragstone(arguments)
            assert code == expected, f"{shlex.join(words)}: exit code {code}, not {expected}"
        case ["make", *targets]:
            rules = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert set(targets) <= set(rules), f"the Makefile lacks a target of {targets}"
        case ["pip", "install", *what]:
            check_pip(what)
        case ["cd", where]:
            go_to(where)
        case ["git", "clone", url]:
            Path(url.rpartition("/")[2].removesuffix(".git")).mkdir()
        case ["cat" | "less" | "ls" | "head" | "open", *names]:
            assert all(Path(name).exists() for name in names if not name.startswith("-")), (
                f"{names}: not there"
            )
        case ["export", _] | ["python", "-m", "venv", _] | ["." | "source", _]:
            pass
        case [program, *_] if program in ELSEWHERE or program.startswith(".venv/bin/"):
            pass
        case _:
            raise AssertionError(f"a line that no test knows how to run: {shlex.join(words)}")


def run_ragstone(arguments: list[str]) -> int:
    try:
        every_command()(args=arguments, prog_name="ragstone")
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def check_pip(what: list[str]) -> None:
    """Check that the extras exist, and that other packages are those that the product asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    known = {package for _, command in SEPARATE.values() for package in command.split()}
    for name in (word for word in what if not word.startswith("-")):
        found = re.fullmatch(r"(?:ragstone|\.)(?:\[([\w,]+)\])?", name)
        assert found or name in known, f"pip install {name}: nobody told the reader about it"
        extras = set(found[1].split(",")) if found and found[1] else set()
        assert extras <= project["optional-dependencies"].keys(), f"pyproject.toml lacks an extra of {extras}"


def go_to(where: str) -> None:
    """Go to a folder; one that was just cloned is empty here, and its commands are only checked."""
    if Path(where).is_dir() and not any(Path(where).iterdir()):
        return
    os.chdir(where)


def run_python(block: Block, names: dict[str, object]) -> None:
    exec(compile(block.text, "<docs>", "exec"), names)


def read_toml(block: Block, _names: dict[str, object]) -> None:
    """Read a table of settings, a judge, a critic, a style, a prompt or personas, as the product does."""
    table = tomllib.loads(block.text)
    scratch = Path("scratch.toml")
    scratch.write_text(block.text, encoding="utf-8")
    if "kind" in table:
        parse_judge(block.text, scratch)
    elif "personas" in table:
        load_personas(scratch)
    elif "inputs" in table:
        parse_critic(block.text, scratch)
    elif "needs" in table:
        parse_style(block.text, scratch)
    elif "prompt" in table:
        load_prompt(scratch)
    else:
        assert table.keys() <= set(Settings.__struct_fields__)
        ragstone.load_settings(scratch)


def read_jsonl(block: Block, _names: dict[str, object]) -> None:
    for line in block.text.splitlines():
        assert isinstance(msgspec.json.decode(line), dict)


KINDS: dict[str, Callable[[Block, dict[str, object]], object]] = {
    "sh": run_shell,
    "python": run_python,
    "pyi": lambda block, _: ast.parse(block.text),
    "toml": read_toml,
    "json": lambda block, _: msgspec.json.decode(block.text),
    "jsonl": read_jsonl,
    "csv": lambda block, _: list(csv.DictReader(block.text.splitlines(), strict=True)),
    "text": lambda _block, _: None,
    "text checked": lambda _block, _: None,
    "console": lambda _block, _: None,
}


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    sys.path.insert(0, str(DOCS))  # as for `python docs/generate.py`, which is in several files
    try:
        return importlib.import_module("generate")
    finally:
        sys.path.remove(str(DOCS))


@pytest.mark.long
def test_what_is_made_from_the_code_is_current(generate):
    for path, text in generate.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is not current. Run: make docs"


# Public functions without an example in docs/python_examples.py: names may only leave this list.
NO_EXAMPLE_YET = {
    *("bench_judges", "bench_languages", "develop_judge", "freeze_judge", "gaps_to_label", "learn_judge"),
    *("log_to_mlflow", "look_at_test", "open_embedder", "read_certificate", "remember_sources"),
    *("same_documents", "send_judgements"),
}


def test_every_public_function_has_an_example_or_is_a_known_gap(generate):
    pages = generate.python_pages
    # A gap that is filled leaves the list.
    assert set(pages.without_example()) == NO_EXAMPLE_YET
    assert pages.examples().keys() <= {name for _, name in pages.public_names()}


def test_every_parameter_of_a_public_function_has_a_meaning(generate):
    assert generate.python_pages.without_meaning() == []


def test_every_public_name_is_on_one_page(generate):
    pages = generate.python_pages
    listed = [name for slug in pages.GROUPS for name in pages.names_of(slug)]
    assert sorted(listed) == sorted({name for _, name in pages.public_names()} - {"__version__"})


def test_a_docstring_is_taken_apart(generate):
    doc = """Return the mean. Of equal ones the first.

    a, b: two numbers, e.g. `1` and `2`; c (of a day): `x: y`; d: said
    over two lines. What is left. Raises DataError for none, and so on.
    """
    parts = generate.python_pages.described(inspect.cleandoc(doc), ["a", "b", "c", "d", "x"])
    assert parts.about == "Return the mean."
    assert parts.meanings == {
        "a": "two numbers, e.g. `1` and `2`",
        "b": "two numbers, e.g. `1` and `2`",
        "c": "(of a day) `x: y`",
        "d": "said over two lines",
    }
    assert parts.raises == "DataError for none, and so on."
    assert parts.notes == ["Of equal ones the first.", "What is left."]


@pytest.mark.docs
def test_what_judges_agree_on_is_what_is_measured_now(generate):
    """The cards on the page of judges are recorded, for they take half a minute."""
    pages = generate.judge_pages
    assert pages.CARDS.read_text(encoding="utf-8") == pages.measured_cards(), (
        "judge_cards.json is not current. Run: python docs/generate.py --cards"
    )


def test_the_page_of_judges_has_all_that_ship_and_a_price_of_those_that_ask_a_model():
    page = (DOCS / "reference/judge-library.md").read_text(encoding="utf-8")
    for judge in map(load_judge, judge_names()):
        [section] = re.findall(rf"^### {judge.name}\n(.*?)(?=^##)", f"{page}\n## ", re.MULTILINE | re.DOTALL)
        [price] = re.findall(r"^\| price \| (.+) \|$", section, re.MULTILINE)
        asks = bool(re.fullmatch(r"(up to )?0\.\d{4} USD( for 100 pairs)?", price))
        assert (asks, price == "asks no language model") == (judge.needs_model, not judge.needs_model)
        assert ("````text" in section) == bool(judge.every_key().get("prompt")), judge.name


def test_every_setting_has_a_default_or_an_example_of_its_type(generate):
    assert generate.without_setting_example() == []
    for table, examples in generate.setting_examples().items():
        fields = {field.name: field.type for field in msgspec.structs.fields(generate.SETTINGS[table])}
        for key, value in examples.items():
            msgspec.convert(tomllib.loads(f"value = {value}")["value"], fields[key])


# Commands whose help shows no example: names may only leave this list.
NO_COMMAND_EXAMPLE_YET = {
    *("ragstone assistant list", "ragstone assistant remove", "ragstone people list"),
    *("ragstone people remove", "ragstone people renew", "ragstone people role"),
}


def test_every_command_has_its_options_in_a_table_and_an_example_or_is_a_known_gap():
    page = (DOCS / "reference/commands.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (ragstone .+)\n((?:(?!^## ).*\n)+)", page, re.MULTILINE))
    assert len(sections) > 50
    contents = re.findall(r"^\| \[`(ragstone [^`]+)`\]\(#", page, re.MULTILINE)
    assert contents == list(sections)
    assert all("\n| name | type | default | meaning |\n" in section for section in sections.values())
    without = {name for name, section in sections.items() if f"\n- `{name}" not in section}
    assert without <= NO_COMMAND_EXAMPLE_YET


def test_table_without_a_meaning_is_refused(generate):
    with pytest.raises(ValueError, match="write the meaning of `seed`"):
        generate.fill_tables("<!-- table: run -->\n| `name` | text | `run` | the folder |\n<!-- end -->")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    to_root = "../" * len(page.relative_to(ROOT).parent.parts) or "./"
    for target, anchor in LINK.findall(OURS.sub(to_root, page.read_text(encoding="utf-8"))):
        there = (page.parent / target).resolve() if target else page
        assert there.exists(), f"{page.name} links to {target}, which is not there"
        if anchor:
            assert anchor in anchors_of(there), f"{page.name} links to {target}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_images_are_there_and_say_what_they_show(page):
    for alternative, image, source, said in IMAGE.findall(page.read_text(encoding="utf-8")):
        there = page.parent / image if image else ROOT / OURS.sub("", source)
        assert there.is_file(), f"{page.name} shows {image or source}, which is not there"
        assert there.stat().st_size < 200_000
        assert len(alternative or said) >= 20, f"{page.name} does not say what {image or source} shows"


def test_readme_is_short_and_its_links_work_on_pypi():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count("\n") <= 150
    assert LINK.findall(readme) == []  # a relative link leads nowhere there
    assert len(OURS.findall(readme)) >= 30
    for image in re.findall(r'(?:srcset|src)="([^"]+)"', readme):
        assert (ROOT / OURS.sub("", image)).is_file()


def test_every_page_is_on_the_index():
    linked = {target for target, _ in LINK.findall((DOCS / "index.md").read_text(encoding="utf-8"))}
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.glob("*/*.md")}
    assert {page for page in pages if not page.startswith("decisions/")} - linked == set()


def test_words_that_others_use_are_keywords_of_the_page_that_they_lead_to():
    table = (DOCS / "index.md").read_text(encoding="utf-8").partition("## Words that others use\n")[2]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)[2:]
    assert len(rows) >= 30
    keywords = tomllib.loads((DOCS / "keywords.toml").read_text(encoding="utf-8"))
    for words, leads_to in rows:
        page = LINK.findall(leads_to)[0][0]
        known = {word.casefold() for word in keywords.get(page, ())}
        missing = {word for word in words.split(", ") if word.casefold() not in known}
        assert not missing, f"keywords.toml: add to {page}: {missing}"


@cache
def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "row_type",
    get_args(records.AnyRow),
)
def test_example_of_each_row_is_such_a_row(row_type):
    page = (DOCS / "reference/files.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {row_type.__name__}\n")[2].partition("\n## ")[0]
    examples = [block.text for block in blocks_of(section) if block.kind == "jsonl"]
    assert examples
    for line in "".join(examples).splitlines():
        row = parse_row(msgspec.json.decode(line), row_type)
        assert row.metadata is None or "metadata" in line, f"{line}: holds a column that nobody knows"


def test_judge_works_inside_a_running_event_loop(folder):
    async def main() -> list[records.Judgement]:
        rows = [{"question": "Who wrote Emma?", "reference": "Jane Austen", "answer": "Jane Austen"}]
        return ragstone.judge(rows, judges=["correctness", "containment"], model="openai/gpt-4o-mini")

    correctness, containment = asyncio.run(main())
    assert correctness.status == "scored"
    assert containment.score == 1
