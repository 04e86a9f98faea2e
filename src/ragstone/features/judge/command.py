"""`ragstone judge`: an answer sheet -> judgements."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models, leave_judged
from ragstone.kernel.console.columns import RowWhere, is_run, reads_rows
from ragstone.kernel.console.options import Bounds, Limit, Model
from ragstone.kernel.console.printing import again, say, show_found

if TYPE_CHECKING:
    from ragstone.features.judge._sheet import AnswerSheet
    from ragstone.kernel.runs.summary import RunSummary

Judges = Annotated[
    list[str] | None,
    typer.Option("--judge", help="Judge: a name, a .toml file, or module:function; may be repeated."),
]
OneCall = Annotated[
    bool | None,
    typer.Option(
        "--one-call",
        help="Ask judges together in one call where their replies fit: cheaper, but less independent.",
    ),
]
EachTurn = Annotated[
    bool,
    typer.Option("--each-turn", help="Judge every reply of a conversation, as ID#PLACE, not only the last."),
]
QuestionsToo = Annotated[
    Path | None, typer.Option("--questions", help="Questions and references, if the sheet has none.")
]

Sheets = Annotated[
    list[Path],
    typer.Argument(help="The answer sheet, with any tool's column names; several files, or a log's folder."),
]
JudgementsPlace = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        help="A file, a folder of shards (end with /), a URL, or a run; default: a run in runs/, named "
        "after the sheet.",
    ),
]


@reads_rows
@asks_models("batch", "keep_failures", "mask", "engine", "trust", "whole")
def judge(
    answers: Sheets,
    *,
    judges: Judges = None,
    model: Model = None,
    one_call: OneCall = None,
    each_turn: EachTurn = False,
    questions: QuestionsToo = None,
    where: RowWhere = None,
    output: JudgementsPlace = None,
    limit: Limit = None,
    bounds: Bounds = False,
    asking: Asking,
) -> None:
    """Judge every answer with every judge. Run it again to continue: no finished call is paid for twice.

    The result is a run: a folder in runs/, named after the sheet, that `report`, `serve`, `compare`, `agree`
    and `label` can open. A second run adds new judges and asks failed rows again. With `-o FILE` the result
    is a file of judgements instead.

    Examples:

    - `ragstone judge answers.jsonl --judge grounding`
    - `ragstone judge answers.csv --judge correctness --model openai/gpt-4o-mini --budget 2usd`
    - `ragstone judge chats.jsonl --judge no_refusal --each-turn`
    - `ragstone judge runs/mine --where "correctness < 50" --judge relevance`
    - `ragstone judge traces.jsonl --judge no_refusal --where "not failed and text ~ wheat"`
    """
    from ragstone.features.judge._sheet import AnswerSheet
    from ragstone.features.judge.judging import (
        forecast_judging,
        judge_sheet,
        judges_again,
        read_no_answer,
        run_folder_of,
        unread_notes,
    )
    from ragstone.kernel.judging.variant import load_judges
    from ragstone.kernel.runs.summary import chosen_in

    settings = asking.settings(judge={"model": model, "one_call": one_call})
    chosen = load_judges(judges or map(settings.named, settings.judge.judges))
    bare = read_no_answer(chosen)
    if where is None or not is_run(answers):
        sheet = AnswerSheet(answers, questions=questions, limit=limit, bare=bare, each_turn=each_turn)
        name = None
    else:
        sheet = _chosen_sheet(answers, where, limit, {"--questions": questions, "--each-turn": each_turn})
        name = f"{answers[0].resolve().name}-chosen"
    choice = next(filter(None, (chosen_in(path, where) for path in answers)), None)
    folder = run_folder_of(output, sheet, settings, force=asking.force, name=name)
    force = asking.force or (folder is None and judges_again(str(output), sheet, chosen, settings))
    asking = asking._replace(force=force)
    asking.tell_forecast(
        lambda: forecast_judging(sheet, chosen, settings),
        *([] if folder else [str(output)]),
        free=not any(judge.needs_model for judge in chosen),
    )
    if folder:
        from ragstone.features.judge.run_folder import judge_to_run

        summary = judge_to_run(
            sheet,
            folder,
            chosen,
            settings,
            how=asking.session,
            force=force,
            bounds=bounds,
            chosen=choice,
        )
    else:
        summary = judge_sheet(
            sheet, str(output), chosen, settings, how=asking.session, force=force, bounds=bounds
        )
        summary = choice.beside(summary) if choice else summary
    notes, options = unread_notes(summary.metrics, sheet)
    notes += [again(options)] if options else []
    _tell(summary, folder or str(output), notes, asking, answers)


def _chosen_sheet(
    runs: list[Path], where: str, limit: int | None, others: dict[str, object]
) -> "AnswerSheet":
    """Return the answers of a run that a filter leaves. others: options that choose otherwise -> value."""
    from ragstone.features.judge.chosen import chosen_sheet
    from ragstone.kernel.errors import ConfigError

    wrong = [name for name, value in others.items() if value]
    if wrong or len(runs) != 1:
        what = f"{', '.join(wrong)} cannot be used with --where" if wrong else "--where takes one run"
        raise ConfigError(f"{what}. Name one run folder, such as runs/starter, and nothing else.")
    return chosen_sheet(runs[0], where, limit=limit)


def _tell(
    summary: "RunSummary", target: "Path | str", notes: list[str], asking: Asking, sheets: list[Path]
) -> None:
    """Show the numbers, the notes and what comes next, and exit as the rows demand."""
    from ragstone.features.judge.words import judged_document
    from ragstone.kernel.runs.wording import end_line
    from ragstone.kernel.stages.notes import failures_line

    show_found(summary, lambda: judged_document(summary), json=asking.json, whole=asking.whole)
    failures = failures_line(summary.metrics)
    if failures:
        say(failures)
    say(f"Judgements in {target}: {end_line(summary, asked=asking.json)}")
    for note in notes:
        say(note)
    is_scored = any(metric.statuses.get("scored") for metric in summary.metrics)
    if is_scored and not notes and not failures:
        say(f"Next: {_next_step(summary, target, sheets)}")
    leave_judged(summary, strict=asking.strict)


def _next_step(summary: "RunSummary", target: "Path | str", sheets: list[Path]) -> str:
    """Return the one command that makes sense now, and why."""
    from ragstone.kernel.records import NO_MODEL

    file = quote(str(target))
    if not isinstance(target, Path):
        if len(sheets) == 1 and sheets[0].is_file() and Path(target).is_file():
            return (
                f"ragstone report {file} writes it as one page; ragstone serve {file} "
                f"{quote(str(sheets[0]))} shows it row by row, and takes people's labels."
            )
        return f"ragstone agree {file} LABELS measures the judges against people's labels."
    if any(metric.model != NO_MODEL and metric.statuses.get("scored") for metric in summary.metrics):
        return f"ragstone serve shows {target} row by row; labels given there show how good its judges are."
    return f"ragstone report {file} writes it as one page; ragstone serve shows it row by row."
