"""`ragstone build facts`: documents -> true statements, and false ones on request."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.cli.asking import cut_off, leave, tell_forecast
from ragstone.cli.bars import bars
from ragstone.cli.console import UNSCORED, say, show, show_json
from ragstone.cli.options import (
    AsJson,
    BudgetCap,
    Config,
    Deadline,
    Force,
    ForecastOnly,
    Limit,
    Model,
    Offline,
    Output,
    Strict,
    Yes,
)

if TYPE_CHECKING:
    from ragstone.engine import EvaluationSet

Sources = Annotated[
    list[Path], typer.Argument(help="A file of documents or chunks; or files and folders to ingest.")
]
Falsify = Annotated[
    str | None,
    typer.Option("--falsify", help="False statements too: number,entity,negation,relation, or some of them."),
]
Count = Annotated[int | None, typer.Option("--count", min=1, help="True statements in all, exactly.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of everything that draws at random.")]
TestShare = Annotated[
    float | None, typer.Option("--test-share", min=0, max=1, help="Share set apart, by document.")
]


def facts(
    sources: Sources,
    *,
    output: Output = Path("facts/facts.jsonl"),
    model: Model = None,
    falsify: Falsify = None,
    count: Count = None,
    test_share: TestShare = None,
    limit: Limit = None,
    seed: Seed = None,
    budget: BudgetCap = None,
    deadline: Deadline = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    offline: Offline = False,
    config: Config = None,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Write true statements about documents, and false ones by small changes, for true/false tests."""
    from ragstone.config import choose, load_settings
    from ragstone.engine import (
        check_facts,
        facts_in_session,
        forecast_facts,
        read_sources,
        with_changes,
    )
    from ragstone.llm import parse_caps

    caps = parse_caps(budget, deadline)
    settings = choose(load_settings(config), "run", seed=seed)
    settings = choose(settings, "build", model=model, count=count, test_share=test_share)
    settings = with_changes(settings, _names(falsify))
    rows = read_sources(sources, settings)[:limit]
    check_facts(rows, settings, None if forecast else output, force)
    if forecast or not offline:
        tell_forecast(forecast_facts(rows, settings), only=forecast, yes=yes, json=json)
    made = facts_in_session(
        rows, settings, output=output, force=force, caps=caps, offline=offline, progress=bars
    )
    _tell(made, output, json=json)
    leave(cut_off(made.calls), made.calls, strict=strict)
    if strict and (made.calls.failed or made.certificate.funnel.n_short or not made.questions):
        raise typer.Exit(UNSCORED)


def _names(falsify: str | None) -> list[str] | None:
    """Return the names of an option `a,b`; None where it is not given."""
    return None if falsify is None else [name.strip() for name in falsify.split(",") if name.strip()]


def _tell(made: "EvaluationSet", output: Path, *, json: bool) -> None:
    from ragstone.report import terminal_certificate
    from ragstone.report.wording import asked_line

    if json:
        files = [str(path) for path in made.files]
        show_json({"certificate": made.certificate, "calls": made.calls, "files": files})
    else:
        show(terminal_certificate(made.certificate))
    say(asked_line(made.calls))
    n_false = sum(row.reference == "false" for row in made.questions)
    said = f"{len(made.questions) - n_false} true and {n_false} false statements in {output}"
    say(f"{said}; beside it all that were written, the lost too.")
    funnel = made.certificate.funnel
    if funnel.n_short:
        say(f"{funnel.n_short} true statements fewer than the {funnel.n_wanted} asked for.")
