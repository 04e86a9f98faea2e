"""`ragstone simulate`: a log -> personas of its users, for `ragstone answer --users`."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models, cut_off, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import Model, Output, Seed
from ragstone.kernel.console.printing import say, show_found
from ragstone.kernel.errors import plural

Log = Annotated[list[Path], typer.Argument(help="A log: files or folders of what users wrote.")]
Count = Annotated[
    int | None,
    typer.Option("--count", min=1, help="Personas of each language; default: as many as are clearly apart."),
]


@reads_rows
@asks_models()
def simulate(
    log: Log,
    *,
    output: Output = Path("users.toml"),
    count: Count = None,
    model: Model = None,
    seed: Seed = 0,
    asking: Asking,
) -> None:
    """Learn personas from a log: how its users write and what they ask. Personal data is masked.

    Examples:

    - `ragstone simulate log.jsonl -o users.toml`
    - `ragstone simulate log.jsonl --model openai/gpt-4o-mini`
    """
    from ragstone.features.simulate.distil import distil_in_session, forecast_distilling, write_personas
    from ragstone.features.simulate.words import personas_document
    from ragstone.kernel.runs.wording import asked_line
    from ragstone.kernel.tables import check_place, keep_sources

    settings = asking.settings()
    keep_sources([output], log)
    check_place(output, asking.force)
    if model is not None:
        asking.tell_forecast(lambda: forecast_distilling(log, settings, count=count, model=model, seed=seed))
    distilled = distil_in_session(log, settings, asking.session, count=count, model=model, seed=seed)
    write_personas(distilled, output, force=asking.force)
    show_found(distilled, lambda: personas_document(distilled), json=asking.json, whole=asking.whole)
    n = sum(len(persona.goals) for persona in distilled.personas)
    say(f"{plural(n, 'user')} of {plural(len(distilled.personas), 'persona')} in {output}.")
    calls = distilled.calls
    if calls:
        say(asked_line(calls))
    leave(cut_off(calls), calls, strict=asking.strict, lost=calls and calls.failed)
