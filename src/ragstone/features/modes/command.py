"""`ragstone modes`: a finished run -> its failure modes, and queues of answers to look at for one."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models, cut_off, leave
from ragstone.kernel.console.options import Seed
from ragstone.kernel.console.printing import say, show_found
from ragstone.kernel.errors import ConfigError, plural

TO_LABEL = Path("to-label.jsonl")


@asks_models("trust", "whole")
def modes(
    run: Annotated[Path, typer.Argument(help="A run folder, such as runs/starter.")],
    labels: Annotated[
        list[Path] | None, typer.Argument(help="Files of labels, beside those of the workbench.")
    ] = None,
    *,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="Model that reads wrong answers, and is asked about modes; default: none reads, that of "
            "judge.model is asked.",
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", help="Judge that says what is wrong; default: the headline judge."),
    ] = None,
    propose: Annotated[
        bool, typer.Option("--propose", help="Propose further modes; default: only where there are none.")
    ] = False,
    queue: Annotated[
        str | None, typer.Option("--queue", help="Draw answers for people to look at for this mode.")
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="With --queue: number of answers.")] = 60,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="With --queue: file of the answers.")
    ] = TO_LABEL,
    seed: Seed = 0,
    asking: Asking,
) -> None:
    """Find out what goes wrong in a run: named failure modes, and how many answers have each.

    Modes are judge files in the folder `modes` beside ragstone.toml. Where there are none they are proposed.

    Examples:

    - `ragstone modes runs/mine`
    - `ragstone modes runs/mine labels.jsonl`
    - `ragstone modes runs/mine --propose --model openai/gpt-4o-mini --budget 2usd`
    """
    from ragstone.features.modes.finding import forecast_modes
    from ragstone.features.modes.finding import modes as find_modes
    from ragstone.features.modes.words import modes_document
    from ragstone.kernel.runs.modes import MODE_ROWS, MODES_FILE

    settings = asking.settings()
    if queue is not None:
        if model is not None or judge is not None or propose or labels:
            raise ConfigError(
                "--queue draws answers for an existing mode: leave out --model, --judge, --propose, labels."
            )
        _draw(run, queue, count, output, seed, asking)
        return
    if output != TO_LABEL:
        raise ConfigError(
            "-o is where --queue writes its answers. Name a mode with --queue, or leave it out."
        )
    asking.tell_forecast(
        lambda: forecast_modes(run, settings, model=model, judge=judge, propose=propose),
        free=model is None and settings.judge.model is None,
    )
    summary = find_modes(
        run,
        model=model,
        judge=judge,
        labels=labels or (),
        propose=propose,
        settings=settings,
        **asking.limits,
    )
    show_found(summary, lambda: modes_document(summary), json=asking.json, whole=asking.whole)
    for path in summary.written:
        say(f"Written: {path}")
    rows = f", of each answer in {MODE_ROWS}" if (run / MODE_ROWS).is_file() else ""
    say(f"Modes: {run / MODES_FILE}{rows}")
    unchecked = next((mode.name for mode in summary.modes if not mode.checked), None)
    if unchecked is not None:
        say(f"To check one: ragstone modes {quote(str(run))} --queue {unchecked}")
    unscored = sum(mode.n_unscored for mode in summary.modes if mode.n_asked)
    leave(cut_off(summary.calls), summary.calls, strict=asking.strict, lost=unscored)


def _draw(run: Path, mode: str, count: int, output: Path, seed: int, asking: Asking) -> None:
    from ragstone.features.label import ToLabel
    from ragstone.features.modes.finding import modes_to_label
    from ragstone.features.modes.values import read_modes_summary
    from ragstone.kernel.console.printing import show_json
    from ragstone.kernel.tables import check_output, write_rows

    check_output(output, asking.force)
    rows = modes_to_label(run, mode, n=count, seed=seed, settings=asking.settings())
    write_rows(output, rows, ToLabel, force=asking.force)
    if asking.json:
        show_json(rows)
    summary = read_modes_summary(run)
    question = next(one.question for one in summary.modes if one.name == mode) if summary else ""
    say(f"{output}: {plural(len(rows), 'answer')} to look at. Is this true of the answer? {question}")
    say(
        "Fill in `score` from the top, 1 for yes and 0 for no; keep `inclusion`, `queue` and `policy`, and "
        f"delete the rows that you do not get to. Then: ragstone modes {quote(str(run))} {quote(str(output))}"
    )
