"""`ragstone judges`: which there are, what one sends, a new one, a first try, a draft, a fitted cascade."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import AsJson, Config, Force, Model, Whole
from ragstone.kernel.console.printing import FAILED_GATE, UNSCORED, say, show, show_blocks, show_json
from ragstone.kernel.decimals import scale_text
from ragstone.kernel.document.numbers import count
from ragstone.kernel.errors import ConfigError, DataError, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from ragstone.features.judges._output import JudgeLine
    from ragstone.features.judges.library import JudgeLibrary, ListedJudge
    from ragstone.features.judges.testing import JudgeTest, ShownTrial
    from ragstone.kernel.document.blocks import Block
    from ragstone.kernel.judging import Judge

FUNCTION = "function"

Named = Annotated[
    str, typer.Argument(help="Judge: a name or a .toml file, with options if needed: rubric@shots=2.")
]
WIDEST_NAME = 20
NO_MODEL_ASKED = "no model"

Kind = Annotated[str, typer.Option("--kind", help="Kind of judge: rubric, boolean, percentage, ...")]


def list_(
    words: Annotated[
        list[str] | None, typer.Argument(help="Words that the name or description must contain.")
    ] = None,
    *,
    config: Config = None,
    json: AsJson = False,
    whole: Whole = False,
) -> None:
    """List the project's judges and those that come with Ragstone: what each measures, reads and costs.

    The last column shows what 1,000 answers cost with the model of ragstone.toml, or that no model is asked.
    A judge that was compared with people has its agreement with them on the next line.

    Examples:

    - `ragstone judges list`
    - `ragstone judges list contexts`
    - `ragstone judges list --all`
    - `ragstone judges list --json`
    """
    from ragstone.features.judges.library import judge_library, named_judges
    from ragstone.kernel.config import load_settings

    settings = load_settings(config)
    named = _matching(named_judges(settings), " ".join(words or ()))
    if not (json or words or whole):
        show_blocks(_names(named), whole=False)
        return
    library = judge_library(settings, judges=named)
    if json:
        library.judges.sort(key=lambda entry: (bool(entry.judge and entry.judge.needs_model), entry.name))
        show_json([_line(entry, library.model) for entry in library.judges])
        return
    _show_library(library)


def _matching(every: "list[ListedJudge]", query: str) -> "list[ListedJudge]":
    """Return the judges that match a query, or say so and return near ones. Raises DataError without any."""
    from ragstone.features.judges.library import judges_with, near_judges

    if named := judges_with(every, query):
        return named
    near = near_judges(every, query)
    if not near:
        raise DataError(f"No judge matches {query!r}. See all: ragstone judges list")
    say(f"No judge matches {query!r}. These have similar words.")
    return near


def _show_library(library: "JudgeLibrary") -> None:
    """Show a table of each group, how many have no report card, and what prices rest on."""
    groups: dict[str, list[ListedJudge]] = {}
    for entry in library.judges:
        groups.setdefault(entry.group, []).append(entry)
    for group, entries in groups.items():
        show(_table(group, entries))
        show("")
    n, n_others = len(library.judges), sum(not entry.cards for entry in library.judges)
    if n_others:
        which = "all" if n_others == n else count(n_others)
        say(f"Not checked against people here yet: {which} of {plural(n, 'judge')}.")
    if basis := library.basis():
        say(basis)


def show_(name: Named, *, json: AsJson = False) -> None:
    """Show a judge's settings, and the prompt that it sends for an example row.

    If the judge names Python code, the code is shown but not run.

    Examples:

    - `ragstone judges show correctness`
    - `ragstone judges show my-judge.toml`
    """
    from ragstone.features.judges._code import code_of
    from ragstone.features.judges._output import JudgeOutput
    from ragstone.features.judges.testing import prompts_of
    from ragstone.kernel.judging import load_judge

    if code := code_of(name):
        if json:
            show_json(JudgeOutput(judge=code.keys, code=code.places))
        else:
            typer.echo("\n".join(code.lines))
        return
    judge = load_judge(name)
    prompts = prompts_of(judge)
    if json:
        show_json(JudgeOutput(judge=judge.every_key(), metrics=list(judge.metrics), prompts=prompts))
        return
    typer.echo("\n".join(_facts(judge)))
    _show_prompts(prompts)
    if judge.needs_model and not prompts:
        say(f"No prompt to show: {judge.name} decides every example row without asking its model.")
    if judge.kind == "statements":
        say("The second call shows a made-up reply to the first one.")


def new(
    file: Annotated[
        Path, typer.Argument(help="The file to write; its name is the judge's: tone.toml, or tone.py.")
    ],
    *,
    kind: Kind = "boolean",
    force: Force = False,
) -> None:
    """Write a commented judge file to start from; it is valid as it is.

    A name that ends in .py makes a judge in Python; --kind function adds a .toml file next to it.

    Examples:

    - `ragstone judges new tone.toml`
    - `ragstone judges new tone.toml --kind rubric`
    """
    from ragstone.features.judges.starting import starter, starting_text
    from ragstone.features.judges.testing import command_to_try
    from ragstone.kernel.judging import load_judge, parse_judge
    from ragstone.kernel.tables.outputs import check_place

    if file.suffix not in (".toml", ".py"):
        raise ConfigError(
            f"{file}: the name of a judge file ends in .toml. Write e.g. {file.stem or 'mine'}.toml."
        )
    kind = FUNCTION if file.suffix == ".py" else kind
    text = starting_text(kind, file.stem)
    judge = parse_judge(text, file)  # a name that is none is told before anything is written
    texts = {file: text} if file.suffix == ".toml" else {}
    if kind == FUNCTION:
        texts[file.with_suffix(".py")] = starter(f"{FUNCTION}.py.txt").replace("NAME", file.stem)
    for path in texts:
        check_place(path, force)
    for path, written in texts.items():
        path.write_text(written, encoding="utf-8")
    made = " and ".join(map(str, texts))
    name = f"{file.with_suffix('.py')}:{file.stem}" if kind == FUNCTION else str(file)
    judge = judge if kind == FUNCTION else load_judge(file)  # with its members, of those that have any
    say(f"Made {made}, a judge of kind {kind}. Next: {command_to_try(name, judge)}")


@reads_rows
@asks_models("trust", "whole", without=("deadline", "forecast", "yes", "force", "strict"))
def try_out(
    name: Named,
    answers: Annotated[Path | None, typer.Argument(help="An answer sheet to judge as well.")] = None,
    *,
    model: Model = None,
    asking: Asking,
) -> None:
    """Check a judge's file, and try it on its examples, on easy rows, and on an answer sheet.

    Each example is left out of the prompt while it is judged. Easy rows (a right, a wrong, a refusing and an
    empty answer) are judged if the metric implies what to expect. Without --model, only the file is checked.
    Exit code 5: something could not be scored; 1: an easy row was judged wrongly.

    Examples:

    - `ragstone judges test tone.toml`
    - `ragstone judges test tone.toml answers.jsonl --model openai/gpt-4o-mini`
    """
    from ragstone.features.judges.testing import command_to_try, prompts_of, try_judge
    from ragstone.kernel.judging import load_judge
    from ragstone.kernel.judging.unnamed_model import judges_without_model
    from ragstone.kernel.records import Answer
    from ragstone.kernel.tables import read_rows

    judge = load_judge(name)
    sheet = list(read_rows(answers, Answer)) if answers else []
    settings = asking.settings(judge={"model": model})
    if judges_without_model([judge], model):
        prompts = prompts_of(judge)
        if asking.json:
            from ragstone.features.judges._output import CheckedFile

            show_json(CheckedFile(judge=judge.name, prompts=prompts))
        else:
            _show_prompts(prompts)
        say(f"The file of {judge.name} is valid. Try it: {command_to_try(name, judge, answers)}")
        return
    tried = try_judge(judge, settings, sheet, asking.session)
    if asking.json:
        show_json(tried)
    else:
        _show_test(tried, command_to_try(name, judge), whole=asking.whole)
    if tried.unscored or tried.wrong:
        raise typer.Exit(UNSCORED if tried.unscored else FAILED_GATE)


def _line(entry: "ListedJudge", model: str | None) -> "JudgeLine":
    from ragstone.features.judges._output import JudgeLine, ListedCard, ListedPrice

    judge, path = entry.judge, str(entry.path) if entry.path else None
    price = None
    if entry.price is not None:
        usd, at_most, pairs = entry.price.usd, entry.price.at_most, entry.price.pairs
        price = ListedPrice(model=model, usd=usd, at_most=at_most, pairs=pairs)
    if judge is None:
        return JudgeLine(name=entry.name, about=entry.about, group=entry.group, path=path, wrong=entry.wrong)
    shown = None
    if entry.cards:
        card = entry.cards[0].card
        measure, estimate = card.lead or (None, None)
        shown = ListedCard(
            metric=card.metric,
            model=card.model,
            prompt_version=card.prompt_version,
            n=card.n,
            measure=measure,
            estimate=estimate,
            better_than_baseline=card.better_than_baseline,
        )
    return JudgeLine(
        name=entry.name,
        about=entry.about,
        group=entry.group,
        kind=judge.kind,
        metric=judge.measures,
        reads=judge.inputs,
        scale=judge.scale,
        needs_model=judge.needs_model,
        path=path,
        card=shown,
        n_cards=len(entry.cards),
        price=price,
    )


def _names(entries: "Sequence[ListedJudge]") -> "list[Block]":
    """Return the names of judges by group, for a screen."""
    from ragstone.kernel.document.blocks import Column, Paragraph, Table

    groups: dict[str, list[str]] = {}
    for entry in entries:
        groups.setdefault(entry.group, []).append(entry.name)
    rows = [[title, ", ".join(names)] for title, names in groups.items()]
    more = "--all shows what each measures; ragstone judges list WORD shows those that match a word."
    columns = [Column("", text=True), Column("", text=True)]
    return [Table(columns, rows, "Judges"), Paragraph(more, tone="muted")]


def _table(group: str, entries: "Sequence[ListedJudge]") -> "Table":
    from rich.table import Table

    from ragstone.features.judges.library import figure_text, price_text

    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        title=group,
        title_justify="left",
        show_header=False,
    )
    prices = {entry.name: price_text(entry) or "" for entry in entries}
    table.add_column(width=WIDEST_NAME, overflow="fold")
    table.add_column(ratio=1)
    table.add_column(width=max(len(NO_MODEL_ASKED), *map(len, prices.values())))
    for entry in entries:
        if entry.judge is None:
            table.add_row(entry.name, entry.wrong, "")
            continue
        lines = [f"{entry.about or ''} Reads {', '.join(entry.judge.inputs)}.".lstrip()]
        lines += [f"With people: {figure}." for figure in [figure_text(entry)] if figure]
        price = prices[entry.name] if entry.judge.needs_model else NO_MODEL_ASKED
        table.add_row(entry.name, "\n".join(lines), price)
    return table


def _facts(judge: "Judge") -> list[str]:
    """Return what the file says, a line for each fact."""
    from ragstone.features.judges.library import source_told

    says, only = judge.every_key(), "only with @criteria=all, "
    optional = getattr(judge, "optional", ())
    facts = {
        "judge": f"{judge.name}, version {judge.version}",
        "kind": judge.kind,
        "metrics": ", ".join(judge.metrics),
        "reads": ", ".join(judge.inputs),
        "scale": scale_text(*judge.scale),
        "criteria": ", ".join(
            f"{own['name']} ({only if own['name'] in optional else ''}weight {own['weight']:g})"
            for own in says["criteria"]
        ),
        "labels": ", ".join(f"{label} = {score:g}" for label, score in (says["labels"] or {}).items()),
        "members": ", ".join(member["judge"] for member in says["members"]),
        "measure": says["measure"] or "",
        "calls": says.get("call", ""),
        "prompts": ", ".join(says["prompts"]),
        "examples": f"{len(judge.shown)} shown of {len(says['examples'])}" if says["examples"] else "",
        "samples": f"{says['samples']} at temperature {says['temperature'] or 0:g}"
        if says["samples"] > 1
        else "",
        "source": source_told(judge),
        "fitted": f"with {judge.fitted_with}" if judge.fitted_with else "",
    }
    return [f"{head:9} {fact}" for head, fact in facts.items() if fact]


def _show_prompts(prompts: "list[ShownTrial]") -> None:
    for number, prompt in enumerate(prompts, 1):
        for message in prompt.messages:
            # Not by rich, which would break its lines: this is what the model gets.
            typer.echo(f"\n--- call {number}, {message['role']}\n{message['content']}")


def _show_test(tried: "JudgeTest", again: str, *, whole: bool) -> None:
    """Show what became of each row; on one screen, those that went wrong come first.

    again: the command with rows to try, where there are none.
    """
    from ragstone.kernel.document.blocks import Column, Table
    from ragstone.kernel.records import NO_MODEL

    if not tried.rows:
        say(
            f"Nothing was tried: {tried.judge} has no examples, and its metric does not imply what to expect "
            f"of easy rows. Give an answer sheet too: {again}"
        )
        return
    tried_rows = (
        tried.rows
        if whole
        else sorted(tried.rows, key=lambda row: row.status == "scored" and row.met is not False)
    )
    rows = [
        [
            row.row,
            row.metric,
            row.expected or "",
            f"{row.given or ''}{' (wrong)' if row.met is False else ''}",
            row.status,
            row.reason or "",
        ]
        for row in tried_rows
    ]
    heads = ("row", "metric", "expected", "given", "status", "reason")
    columns = [Column(head, text=True) for head in heads]
    show_blocks([Table(columns, rows, "Rows that were tried")], whole=whole)
    wrong = plural(tried.wrong, "easy row")
    counts = f"{plural(len(tried.rows), 'judgement')}: {tried.unscored} not scored, {wrong} wrong."
    asked = tried.model if tried.model != NO_MODEL else NO_MODEL_ASKED
    say(f"{tried.judge} by {asked}, {counts}")
