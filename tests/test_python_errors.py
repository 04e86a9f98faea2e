"""A user's mistake in Python is one exception with its sentence, not a page of frames that are ours."""

import asyncio
import contextlib
import inspect
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

import ragstone
from ragstone.kernel.errors import RagstoneError

OURS = str(Path(ragstone.__file__).parent)
ROW = {"question": "Is it blue?", "answer": "Yes.", "reference": "Yes.", "contexts": ["It is blue."]}
MOST_FRAMES = 6

MISTAKES: dict[str, Callable[[Path], object]] = {
    "no key": lambda _folder: ragstone.judge([ROW], judges=["correctness"], model="openai/gpt-4o-mini"),
    "unknown model": lambda _folder: ragstone.judge([ROW], judges=["correctness"], model="nobody/nothing"),
    "no model": lambda _folder: ragstone.judge([ROW], judges=["correctness"]),
    "unknown judge": lambda _folder: ragstone.judge([ROW], judges=["corectness"], model="openai/gpt-4o-mini"),
    "no rows but a text": lambda _folder: ragstone.judge("answers.jsonl", judges=["lexical"]),
    "rows without an answer": lambda _folder: ragstone.judge([{"question": "?"}], judges=["containment"]),
    "a file that is not there": lambda folder: list(
        ragstone.read_rows(folder / "none.jsonl", ragstone.Answer)
    ),
    "a run that is not there": lambda folder: ragstone.compare(folder / "a", folder / "b"),
    "a report of no run": lambda folder: ragstone.write_report(folder / "none"),
    "a bad budget": lambda _folder: ragstone.judge([ROW], judges=["lexical"], budget="much"),
    "an unknown system": lambda _folder: ragstone.answer([{"question": "?"}], system="nobody"),
    "an unknown retriever": lambda _folder: ragstone.retrieve([{"question": "?"}], [], retriever="none"),
    "settings that are not there": lambda folder: ragstone.load_settings(folder / "none.toml"),
    "settings that are a path": lambda _folder: ragstone.judge([ROW], judges=["lexical"], settings="a.toml"),  # type: ignore[arg-type]
    "a set that is not there": lambda folder: ragstone.import_set(folder / "none.csv"),
    "an attack on no judge": lambda _folder: ragstone.attack(["nobody"]),
    "one path for several": lambda folder: list(ragstone.ingest(str(folder / "none.md"))),
    "one path for the documents": lambda folder: ragstone.ask("?", documents=str(folder / "none.md")),
}


def told(mistake: Exception) -> tuple[str, int]:
    """What Python prints of it, and how many frames of ours are in that."""
    lines = traceback.format_exception(mistake)
    return "".join(lines), sum(f'File "{OURS}' in line for line in lines)


@pytest.fixture(autouse=True)
def without_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_exception_with_few_frames_of_ours(name: str, tmp_path: Path) -> None:
    with pytest.raises(RagstoneError) as caught:
        MISTAKES[name](tmp_path)
    text, n_frames = told(caught.value)
    assert "During handling" not in text
    assert "direct cause" not in text
    assert n_frames <= MOST_FRAMES


@pytest.mark.parametrize("name", ["no key", "unknown model", "unknown judge"])
async def test_so_is_one_in_a_notebook_whose_loop_is_running(name: str, tmp_path: Path) -> None:
    with pytest.raises(RagstoneError) as caught:
        MISTAKES[name](tmp_path)
    text, n_frames = told(caught.value)
    assert "During handling" not in text
    assert n_frames <= MOST_FRAMES


KINDS = r"\b(?:Answer|Chunk|Document|Judgement|Label|Question|Ranking)\b"
# What else must be given before rows are looked at.
OTHERS: dict[str, object] = {"judges": ["containment"], "cheap": "containment", "to": "sw", "n": 1}


def taking_rows() -> Iterator[tuple[str, str]]:
    """Yield each function of the API with an argument that is rows of ours, by its annotation."""
    for name in ragstone.__all__:
        function = getattr(ragstone, name)
        if not inspect.isfunction(function):
            continue
        for argument in inspect.signature(function).parameters.values():
            told = str(argument.annotation)
            if re.search("Sequence|Iterable", told) and re.search(KINDS, told):
                yield name, argument.name


def fitting(argument: inspect.Parameter) -> object:
    """What passes for an argument that must be given."""
    if isinstance(argument.annotation, type) and argument.annotation.__module__.startswith("ragstone"):
        return Mock(spec=argument.annotation)
    return "none" if argument.annotation is str or "Path" in str(argument.annotation) else []


def called_with(name: str, argument: str, rows: object) -> object:
    """Call a function of the API with this for one of its arguments, and as little as it takes for others.

    What it yields is read; a block that it makes is entered.
    """
    function = getattr(ragstone, name)
    needed = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]
    given = {one.name: OTHERS.get(one.name, fitting(one)) for one in needed} | {argument: rows}
    made = function(**given)
    if isinstance(made, contextlib.AbstractAsyncContextManager):
        return asyncio.run(made.__aenter__())
    return list(made) if isinstance(made, Iterator) else made


ROWS = [*taking_rows()]


def test_functions_that_take_rows_are_found():
    assert len({name for name, _ in ROWS}) > 25


OTHER_THINGS: dict[str, Callable[[], object]] = {
    "numbers": lambda: [7],
    "what yields dicts of nothing": lambda: ({} for _ in range(1)),
    "a path": lambda: "rows.jsonl",
    "a number": lambda: 7,
}


@pytest.mark.long
@pytest.mark.parametrize("things", OTHER_THINGS)
@pytest.mark.parametrize(("name", "argument"), ROWS)
def test_what_is_no_row_is_refused_in_one_sentence_by_every_function_that_takes_rows(name, argument, things):
    with pytest.raises(RagstoneError) as caught:
        called_with(name, argument, OTHER_THINGS[things]())
    text, n_frames = told(caught.value)
    assert "During handling" not in text
    assert n_frames <= MOST_FRAMES


VALUES = r"Settings|FinishedRun|CascadeFit|Path(?!.*Sequence)"


def taking_values() -> Iterator[tuple[str, str]]:
    """Yield each function of the API with an argument that is settings, a run or a path."""
    for name in ragstone.__all__:
        function = getattr(ragstone, name)
        if inspect.isfunction(function):
            arguments = inspect.signature(function).parameters.values()
            plain = (each for each in arguments if "collections.abc" not in str(each.annotation))
            yield from ((name, each.name) for each in plain if re.search(VALUES, str(each.annotation)))


VALUE_ARGUMENTS = [*taking_values()]


def test_functions_that_take_settings_runs_and_paths_are_found():
    assert len({name for name, _ in VALUE_ARGUMENTS}) > 40
    assert {("export_table", "run"), ("bench_judges", "settings"), ("run", "settings")} < {*VALUE_ARGUMENTS}


@pytest.mark.long
@pytest.mark.parametrize("value", [7, {}, ["a.toml"], object()], ids=["number", "dict", "list", "object"])
@pytest.mark.parametrize(("name", "argument"), VALUE_ARGUMENTS)
def test_what_is_no_path_run_or_settings_is_refused_in_one_sentence(name, argument, value):
    with pytest.raises(RagstoneError, match=f"^{argument}: expected ") as caught:
        called_with(name, argument, value)
    assert f", got {type(value).__name__}" in str(caught.value)
    assert told(caught.value)[1] <= MOST_FRAMES


@pytest.mark.parametrize(
    ("name", "argument", "value"),
    [
        ("export_table", "run", "runs/x"),
        ("bench_judges", "settings", "ragstone.toml"),
        ("bench_retrievers", "settings", None),
        ("run", "settings", {}),
        ("write_report", "run", None),
    ],
)
def test_a_sentence_says_what_was_expected(says, name, argument, value):
    with pytest.raises(RagstoneError) as caught:
        called_with(name, argument, value)
    says(caught.value)


SCORED = [
    ragstone.Judgement(
        question_id=name, system="default", judge="right", metric="correctness", status="scored",
        model="none", prompt_version=1, score=1.0, scale=(0, 1),
    )
    for name in "ab"
]  # fmt: skip
WRONG_VALUES: dict[str, Callable[[], object]] = {
    "a way of choosing that only pairs have": lambda: ragstone.next_to_label(SCORED, n=1, by="difference"),
    "a way of choosing that there is not": lambda: ragstone.next_to_label(SCORED, n=1, by="randon"),  # type: ignore[arg-type]
    "no answers to label": lambda: ragstone.next_to_label(SCORED, n=0),
    "no pairs to label": lambda: ragstone.pairs_to_label(SCORED, SCORED, n=0),
    "no gaps to label": lambda: ragstone.gaps_to_label(SCORED, [], n=0),
    "a signal that there is not": lambda: ragstone.store_spans(b"", signal="metrics"),  # type: ignore[arg-type]
    "an encoding that there is not": lambda: ragstone.store_spans(b"", encoding="xml"),  # type: ignore[arg-type]
    "a list compared with itself": lambda: ragstone.compare(SCORED, SCORED),
    "a best end that there is not": lambda: ragstone.judge_function(best="low"),  # type: ignore[arg-type]
    "labels without one": lambda: ragstone.judge_function(labels={}),
    "more flips than attacks": lambda: ragstone.attack(["right"], most_flips=3),
    "tables read in no known way": lambda: ragstone.IngestOptions(tables="lines"),  # type: ignore[arg-type]
    "duplicates treated in no known way": lambda: ragstone.IngestOptions(duplicates="keep"),  # type: ignore[arg-type]
    "files of no size": lambda: ragstone.IngestOptions(max_file_mb=0),
}


@pytest.mark.parametrize("name", WRONG_VALUES)
def test_a_value_that_there_is_not_is_refused_with_those_that_there_are(says, name):
    with pytest.raises(RagstoneError) as caught:
        WRONG_VALUES[name]()
    says(caught.value)


def test_values_that_there_are_pass():
    for by in ("random", "stratified"):
        assert len(ragstone.next_to_label(SCORED, n=1, by=by)) == 1
    assert ragstone.compare(SCORED, [*SCORED]).n_shared == 2
    assert ragstone.IngestOptions(tables="whole", duplicates="ignore", processes=1).max_file_mb == 200


READERS = ["read_certificate", "read_qrels", "read_run", "read_summary", "read_trec_run"]


@pytest.mark.parametrize("name", READERS)
def test_a_path_may_be_a_text(name):
    with pytest.raises(RagstoneError, match="none"):
        getattr(ragstone, name)("none")


def test_a_log_of_decisions_that_is_not_there_holds_none():
    assert ragstone.read_decisions("none.jsonl") == []
