"""The pages of the Python API, reference/python.md and reference/python/, from the code. See generate.py.

Docstrings are read as they are written: `name: meaning.` of a parameter or field, in any paragraph; a
sentence that begins with "Raises" is about errors; what is left is shown as it is.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import UnionType
from typing import NamedTuple, get_args

import ragstone
from ragstone.kernel import errors

DOCS = Path(__file__).parent
EXAMPLES = DOCS / "python_examples.py"


class Group(NamedTuple):
    """A page of names. rooms: where they are defined, folders of src/ragstone, or names themselves."""

    title: str
    about: str
    rooms: Sequence[str]
    needs_run: bool = False  # the examples read a run


# File name of a page -> its names. A name is on the first page that has it, or its room, among its rooms.
GROUPS = {
    "evaluate": Group(
        "Evaluate",
        "Retrieve, answer, judge and report, one stage at a time or all that `ragstone.toml` declares.",
        (
            "summarise",
            "MetricSummary",
            "try_prompt",
            *map("features.{}".format, ("answer", "judge", "retrieve", "ask", "run", "report")),
        ),
        needs_run=True,
    ),
    "judges": Group(
        "Judges",
        "The judges that ship, a judge from a file or a function, and what a judge's verdicts are made of.",
        ("kernel.judging", "features.judges", "judge_suite"),
    ),
    "agreement": Group(
        "Agreement with people",
        "How good a judge is: report cards, corrected means, which answers to label, and better judges.",
        (
            "bench_judges",
            "JudgeBenchSummary",
            "kernel.agreement",
            *map("features.{}".format, ("agree", "label", "improve")),
        ),
    ),
    "compare": Group(
        "Compare and explain",
        "Better, worse or cannot tell; what lost the points; how far a judge can be moved.",
        (
            "compare_rankings",
            "best_and_indistinguishable",
            *map("features.{}".format, ("compare", "bench", "blame", "modes", "attack", "simulate")),
        ),
        needs_run=True,
    ),
    "data-sets": Group(
        "Evaluation sets",
        "Questions from documents, logs and files; their review, translation and certificate.",
        (
            "kernel.dataset",
            "kernel.privacy",
            "read_certificate",
            *map(
                "features.{}".format,
                ("build", "check", "data", "sample", "translate", "review", "import_"),
            ),
        ),
    ),
    "documents": Group(
        "Documents and retrieval",
        "Files to documents, documents to chunks, topics and tags, embedders, and how rankings are measured.",
        (
            "kernel.corpus",
            "kernel.embedding",
            "kernel.retrieval",
            "features.tag",
            "read_qrels",
            "read_trec_run",
        ),
    ),
    "runs": Group(
        "Runs and export",
        "A run folder as a value, its numbers as data frames, and results for other programs.",
        ("kernel.runs", "features.export"),
        needs_run=True,
    ),
    "monitor": Group(
        "Watch an application",
        "Production queries: trends, alarms, gaps, and the spans that OpenTelemetry sends.",
        ("features.watch",),
    ),
    "statistics": Group(
        "Statistics",
        "Means with intervals, as every report shows them; for numbers of any origin.",
        ("kernel.statistics",),
    ),
    "rows": Group(
        "Rows and files",
        "The rows that everything is made of, and how files of any tool are read and written.",
        ("kernel.records", "kernel.tables"),
    ),
    "settings": Group(
        "Settings and models",
        "What `ragstone.toml` says, which models can be named, and progress while something runs.",
        ("kernel.config", "kernel.llm", "kernel.console"),
    ),
    "assistant": Group(
        "The assistant", "The RAG assistant that ships with Ragstone, in a program of yours.", ("assistant",)
    ),
    "errors": Group(
        "Errors",
        "What can be raised, and what it means. All derive from `RagstoneError`.",
        ("kernel.errors", "features.explain"),
    ),
}

# What parameters mean where no docstring says it: one of every function, or of one (FUNCTION.PARAMETER).
SHARED = {
    "settings": "what `load_settings` returns; default: `ragstone.toml` of this folder, if there is one",
    "model": "the model to use, in place of the one in `settings`: `transport/model`",
    "budget": "spend at most this: `100calls`, `200000tokens`, `2usd`, or several with commas",
    "deadline": "stop after this time: `90s`, `30m`, `1h30m`",
    "offline": "answer from the ledger alone; call no model",
    "progress": "called as the work goes on; give `ragstone.progress_line` to see it",
    "seed": "of the random draws: the same seed gives the same result",
    "force": "replace what is there",
    "columns": "field -> column of your file, where the name is not understood",
    "batch": "use the provider's batch API: cheaper, but takes up to a day",
    "judgements": "rows of judgements, as `judge` and `read_rows` return them",
    "labels": "rows of people's labels, as `read_rows` returns them",
    "questions": "rows of questions",
    "documents": "rows of documents",
    "chunks": "rows of chunks",
    "rankings": "rows of rankings, of one retriever",
    "path": "of the file",
    "folder": "its path",
    "run": "what `read_run` returns",
    "resamples": "of the bootstrap",
    "level": "coverage of the interval",
    "measure": "of the questions, such as `mrr`",
    "alpha": "a difference counts where its p, after Holm's correction, is at most this",
    "options": "how files are read",
    "row_type": "the kind of row, such as `Answer`",
    "clusters": "question id -> what it shares with other questions, such as their document",
    "ask.question": "its text",
    "attack.judges": "names, files or functions",
    "best_and_indistinguishable.queries": "as of `compare_rankings`",
    "build_facts.documents": "rows of documents or of chunks",
    "build_knowledge.sources": "files and folders",
    "build_questions.documents": "rows of documents or of chunks",
    "apply_review.decisions": "what `read_decisions` returns",
    "chosen_to_label.metric": "the metric to label",
    "corrected_means.mapping": "as of `report_cards`",
    "corrected_means.policy": "as of `report_cards`",
    "corrected_means.threshold": "as of `report_cards`",
    "freeze_judge.development": "what `develop_judge` returned for it",
    "freeze_judge.judge": "its file",
    "gaps_to_label.answers": "rows with the texts to read",
    "gaps_to_label.metric": "the metric to label",
    "gaps_to_label.n": "at most so many answers",
    "import_set.source": "a file or a folder, or several",
    "ingest.sources": "files, folders, archives and patterns",
    "likeness.log": "files, folders, or rows",
    "likeness.rows": "as `converse` returns them",
    "load_judge.name": "of a judge that ships, a path that ends in .toml, or a function",
    "mask_personal_data.text": "any text",
    "next_to_label.n": "how many answers",
    "next_to_label.strata": "what `stratified` spreads the answers over: `system`, `score`, or a tag's name",
    "open_embedder.cache": "the folder of its store; None for none",
    "open_embedder.name": "such as `packaged`, or `transport/model`",
    "pairs_to_label.answers_a": "rows with the texts of the answers",
    "pairs_to_label.answers_b": "rows with the texts of the answers",
    "pairs_to_label.metric": "the metric to label",
    "pairs_to_label.n": "how many questions",
    "gaps_to_label.policy": "only labels given under these instructions, by their digest",
    "measure_queries.rank_score_k": "the last place that counts in the rank score",
    "progress_line.stage": "what is being done",
    "progress_line.state": "gives what was spent so far",
    "progress_line.total": "how many rows there are; None where nobody knows",
    "question_digest.question": "its text",
    "question_digest.question_id": "counts where there is no text",
    "read_corpus.sources": "as of `ingest`",
    "remember_sources.question": "a question with evidence",
    "sample_feedback.count": "answers of the queue",
    "sample_feedback.keep_personal_data": "mask nothing",
    "sample_feedback.limit": "only the first rows",
    "sample_log.count": "how many questions",
    "sample_log.keep_personal_data": "mask nothing",
    "store_spans.body": "of the request",
    "store_spans.encoding": "of the request",
    "store_spans.folder": "where the spans are kept",
    "summarise_goals.rows": "as `converse` returns them",
    "tag.rows": "documents or chunks",
    "translate.rows": "questions, or documents",
    "try_prompt.limit": "the first so many rows, where `questions` names none",
    "try_prompt.run": "its folder",
    "watch.tell": "called with what is known, each time that there were new rows (with `follow`)",
    "write_cascade.fit": "what `fit_cascade` returned",
    "write_rows.rows": "of that kind",
    **{
        f"look_at_test.{name}": "as of `develop_judge`"
        for name in ("judge", "labels", "answers", "questions", "threshold", "mapping")
    },
}

OPENING = """\
`import ragstone` gives the names below and opens, reads and calls nothing. The stages are functions from
rows to rows; the rows are frozen structs (of `msgspec`), made with keyword arguments. Functions that ask a
model are synchronous, and work in a script as well as in a notebook whose event loop is running.

```python
import ragstone

judgements = ragstone.judge(
    [{"question": "Who wrote Emma?", "reference": "Jane Austen", "answer": "It was Jane Austen."}],
    judges=["containment", "token_f1"],
)
for metric in ragstone.summarise(judgements):
    print(metric.judge, metric.estimate.value, metric.statuses)
```
"""


IMPORTS = {"asyncio": "import asyncio", "json": "import json", "Path": "from pathlib import Path"}


class Described(NamedTuple):
    """A docstring in parts. about: its first sentence; meanings: name -> text; notes: what is left."""

    about: str
    meanings: Mapping[str, str]
    raises: str
    notes: Sequence[str]


def python_pages(made: str, meanings: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return file name -> page: an overview of all names, and a page of each group.

    made: the line at its top. meanings: row -> field -> what it is, as the tables of reference/files.md say.
    """
    pages = {
        f"reference/python/{name}.md": _page(name, group, made, meanings) for name, group in GROUPS.items()
    }
    return {"reference/python.md": _overview(made), **pages}


def _overview(made: str) -> str:
    parts = [f"# The Python API\n\n{made}", OPENING]
    anchors: set[str] = set()
    for slug, group in GROUPS.items():
        rows = []
        for name in names_of(slug):
            # Before the pages were split, names were found here: python/#judge still leads to the line.
            anchor = "" if name.lower() in anchors else f'<a id="{name.lower()}"></a>'
            anchors.add(name.lower())
            place = heading_of(name, slug).lower().replace(" ", "-")
            rows.append([f"{anchor}[`{name}`](python/{slug}.md#{place})", _about(name)])
        parts.append(
            f"## [{group.title}](python/{slug}.md)\n\n{group.about}\n\n{table(['name', 'what it is'], rows)}"
        )
    return "\n".join(parts)


def _page(slug: str, group: Group, made: str, meanings: Mapping[str, Mapping[str, str]]) -> str:
    run = ", after `ragstone run`" if group.needs_run else ""
    first = f"{group.about}\n\nThe examples read the files of a folder that `ragstone new` makes{run}.\n"
    opening = "```sh\nragstone run\n```\n" if group.needs_run else ""
    code = "".join(filter(None, (examples().get(name) for name in names_of(slug))))
    lines = [line for word, line in IMPORTS.items() if f"{word}." in code or f"{word}(" in code]
    imports = "```python\n" + "\n".join([*lines, *[""] * bool(lines), "import ragstone"]) + "\n```\n"
    parts = [f"# Python: {group.title}\n\n{made}", first, *filter(None, [opening]), imports]
    return "\n".join([*parts, *(_entry(name, meanings.get(name, {})) for name in names_of(slug))])


def heading_of(name: str, slug: str) -> str:
    """Return the heading of a name; one that differs in letter case alone from another has one of its own."""
    alike = [other for other in names_of(slug) if other.lower() == name.lower()]
    return name if alike[0] == name else f"class {name}"


@cache
def names_of(slug: str) -> list[str]:
    """Return the names of a page: functions, then values."""
    names = [name for room, name in public_names() if _slug_of(room, name) == slug]
    return sorted(names, key=lambda name: name[0].isupper())


def _slug_of(room: str, name: str) -> str | None:
    for wanted in (name, room, room.partition(".")[0]):
        for slug, group in GROUPS.items():
            if wanted in group.rooms:
                return slug
    return None


@cache
def public_names() -> list[tuple[str, str]]:
    """Return (room, name) of everything that __init__.pyi exports, in its order."""
    tree = ast.parse(Path(ragstone.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return [
        (".".join((node.module or "").split(".")[:2]), alias.asname or alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]


def examples() -> dict[str, str]:
    """Return name -> its example, as python_examples.py has it."""
    parts = re.split(r"^# %% (\w+)$", EXAMPLES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def without_example() -> list[str]:
    """Return the public functions that have no example."""
    shown = examples()
    return [
        name
        for _, name in public_names()
        if inspect.isfunction(getattr(ragstone, name)) and name not in shown
    ]


def without_meaning() -> list[str]:
    """Return `function.parameter` of all parameters that neither a docstring nor SHARED explains."""
    missing = []
    for _, name in public_names():
        value = getattr(ragstone, name)
        if inspect.isfunction(value):
            own = described(inspect.getdoc(value) or "", _parameters(value)).meanings
            missing += [f"{name}.{one}" for one in _parameters(value) if not _meaning(name, one, own)]
    return missing


def _meaning(function: str, parameter: str, own: Mapping[str, str]) -> str:
    return own.get(parameter) or SHARED.get(f"{function}.{parameter}") or SHARED.get(parameter, "")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of Markdown."""
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [heads, ["---"] * len(heads), *rows])


def _about(name: str) -> str:
    value = getattr(ragstone, name)
    if isinstance(value, UnionType):
        return f"One of {', '.join(f'`{member.__name__}`' for member in get_args(value))}."
    return described(inspect.getdoc(value) or "", ()).about


def _entry(name: str, meanings: Mapping[str, str]) -> str:
    value = getattr(ragstone, name)
    doc = inspect.getdoc(value) or ""
    if value is ragstone.RagstoneError:
        tree = str(errors.__doc__).split("\n\n")[1]
        return f"## {name}\n\n```text\n{tree.strip()}\n```\n"
    if inspect.isclass(value) and issubclass(value, Exception):
        return f"## {name}\n\n{_readable(doc)}\n"
    if isinstance(value, UnionType):
        members = "\n    | ".join(member.__name__ for member in get_args(value))
        return f"## {name}\n\n```pyi\n{name} = (\n    {members}\n)\n```\n\n{_members(value)}\n"
    if inspect.isclass(value):
        return _class_entry(name, value, doc, meanings)
    return _function_entry(name, value, doc)


def _function_entry(name: str, function: Callable[..., object], doc: str) -> str:
    node = _definition(function)
    parts = described(doc, [argument.arg for argument, _ in _arguments(node)])
    defaults = inspect.signature(function).parameters
    rows = [
        [
            f"`{argument.arg}`",
            _type(argument.annotation),
            "required" if default is None else _default(default, defaults[argument.arg].default),
            _cell(_meaning(name, argument.arg, parts.meanings)),
        ]
        for argument, default in _arguments(node)
    ]
    returns = f"**Returns** {_type(node.returns)}" if node.returns else ""
    return _joined(
        f"## {name}",
        f"```pyi\n{_signature_of(node)}\n```",
        parts.about,
        table(["parameter", "type", "default", "meaning"], rows).strip() if rows else "",
        returns,
        parts.raises and f"**Raises** {parts.raises}",
        *parts.notes,
        _example(name),
    )


def _class_entry(name: str, kind: type, doc: str, meanings: Mapping[str, str]) -> str:
    node = _definition(kind)
    assert isinstance(node, ast.ClassDef)
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
    names = [ast.unparse(part.target) for part in fields]
    parts = described(doc, names)
    rows = [
        [
            f"`{field}`",
            _type(part.annotation),
            f"`{_code(part.value)}`" if part.value is not None else "required",
            meanings.get(field) or _cell(parts.meanings.get(field, "")),
        ]
        for field, part in zip(names, fields, strict=True)
    ]
    bases = [
        ast.unparse(base) for base in node.bases if ast.unparse(base) not in ("msgspec.Struct", "NamedTuple")
    ]
    return _joined(
        f"## {heading_of(name, next(slug for slug in GROUPS if name in names_of(slug)))}",
        parts.about,
        f"Has the fields of `{bases[0]}` too." if bases and fields else "",
        table(["field", "type", "default", "meaning"], rows).strip() if rows else "",
        parts.raises and f"**Raises** {parts.raises}",
        *parts.notes,
        _methods(node),
        _example(name),
    )


def _default(node: ast.expr, value: object) -> str:
    """Return a default as the source has it; the value of a constant in place of its name."""
    plain = isinstance(node, ast.Name) and isinstance(value, int | float | str | tuple)
    return f"`{value!r}`" if plain else f"`{_code(node)}`"


def _methods(node: ast.ClassDef) -> str:
    """Return a class's properties and methods, each with what it gives."""
    lines = []
    for part in node.body:
        if (
            isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
            and not part.name.startswith("_")
            and part.returns
        ):
            marks = {ast.unparse(mark) for mark in part.decorator_list}
            about = described(ast.get_docstring(part) or "", ()).about
            if marks & {"property", "functools.cached_property", "cached_property"}:
                lines.append(f"- `{part.name}`: {_type(part.returns)}. {about}")
            elif not marks:
                call = ", ".join(argument.arg for argument, _ in _arguments(part) if argument.arg != "self")
                lines.append(f"- `{part.name}({call})`: {_type(part.returns)}. {about}")
    return "\n".join(line.rstrip() for line in lines)


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def _example(name: str) -> str:
    example = examples().get(name)
    return f"Example:\n\n```python\n{example}\n```" if example else ""


def described(doc: str, names: Sequence[str]) -> Described:
    """Return a docstring in parts; names: of its parameters or fields."""
    paragraphs = [part if _is_list(part) else " ".join(part.split()) for part in doc.split("\n\n")]
    first, *rest = SENTENCE_END.split(paragraphs[0], maxsplit=1)
    meanings: dict[str, str] = {}
    raises, notes = [], []
    for paragraph in filter(None, [*rest, *paragraphs[1:]]):
        text, _, errors_text = f" {paragraph}".partition(" Raises ")
        if errors_text:
            raises.append(errors_text)
        note = text.strip() if _is_list(paragraph) else _take(text.strip(), names, meanings)
        notes += [_readable(note)] if note else []
    return Described(_readable(first), meanings, _readable(" ".join(raises)), notes)


# The end of a sentence: a dot before a capital, or before a name that is explained.
ROOM = re.compile(r"\b(?:agreement|judging|rankings|runs|statistics)\.(?=[A-Z])")  # of a type in quotes
SENTENCE_END = re.compile(r"(?<!e\.g\.)(?<=[.!?])\s+(?=[A-Z`\[(]|\w+(?:, \w+)*: )")


def _take(text: str, names: Sequence[str], meanings: dict[str, str]) -> str:
    """Take the meanings out of a paragraph; return what is left."""
    if not names:
        return text
    one = "|".join(sorted(names, key=len, reverse=True))
    one = rf"(?:{one})(?: \([^)]*\))?"
    marks = list(re.finditer(rf"(?:^|(?<=[.;)] ))({one}(?:(?:, | and ){one})*): ", text))
    if not marks:
        return text
    left = [text[: marks[0].start()]]
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        meaning = text[mark.end() : following.start() if following else None]
        if following is None:  # what follows the last one's sentence is about the whole
            meaning, *others = SENTENCE_END.split(meaning, maxsplit=1)
            left += others
        for name in re.split(r", | and ", mark[1]):
            name, _, more = name.partition(" ")  # as in `budget (of a day): ...`
            said = f"{more} {meaning}".strip().removesuffix(";").removesuffix(".")
            meanings[name] = f"{meanings[name]}; {said}" if name in meanings else said
    return " ".join(part.strip() for part in left if part.strip())


def _is_list(paragraph: str) -> bool:
    return bool(re.search(r"^\s*[-*] |^    ", paragraph, re.MULTILINE))


def _cell(text: str) -> str:
    return _readable(text).replace("|", "\\|")


def _type(node: ast.AST | None) -> str:
    """Return a type as a cell of a table can hold it: without quotes, and without its room."""
    if node is None:
        return ""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.parse(ROOM.sub("", node.value), mode="eval").body
    return f"`{_code(node).replace(' | ', ' or ')}`"


def _members(union: UnionType) -> str:
    """Return what the members of a union are, each after those whose keys it has too."""
    kinds = dict.fromkeys(kind for member in get_args(union) for kind in reversed(member.__mro__[:-4]))
    told = {kind.__name__: _readable(inspect.getdoc(kind) or "") for kind in kinds}
    return "\n\n".join(f"**{name}**: {text}" for name, text in told.items())


def _definition(value: object) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef:
    """Return a function or a class as its source has it."""
    node = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]  # type: ignore[arg-type]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    return node


def _parameters(function: Callable[..., object]) -> list[str]:
    return [argument.arg for argument, _ in _arguments(_definition(function))]


def _arguments(node: ast.AST) -> list[tuple[ast.arg, ast.expr | None]]:
    """Return the parameters of a function with their defaults, None where it must be given."""
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    missing: list[None] = [None] * (len(node.args.args) - len(node.args.defaults))
    together = list(zip(node.args.args, [*missing, *node.args.defaults], strict=True))
    return together + list(zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True))


def _signature_of(node: ast.AST) -> str:
    """Return a signature, one parameter a line if it is long."""
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    parts = [
        _code(argument) + (f" = {_code(default)}" if default else "")
        for argument, default in _arguments(node)
    ]
    if node.args.kwonlyargs:
        parts.insert(len(node.args.args), "*")
    returns = f" -> {_code(node.returns)}" if node.returns else ""
    line = f"def {node.name}({', '.join(parts)}){returns}: ..."
    if len(line) <= 100:
        return line
    body = "".join(f"    {parameter},\n" for parameter in parts)
    return f"def {node.name}(\n{body}){returns}: ..."


def _code(node: ast.AST) -> str:
    return ast.unparse(node).replace("'", '"')


def _readable(text: str) -> str:
    """Return a docstring's text as Markdown."""
    return text.replace("<", "&lt;")
