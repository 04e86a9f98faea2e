"""`ragstone build facts`: documents -> true statements, and false ones on request."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.console.asking import tell_forecast
from ragstone.console.bars import bars
from ragstone.console.options import (
    AsJson,
    BudgetCap,
    BuildSources,
    Config,
    Deadline,
    Force,
    ForecastOnly,
    Limit,
    Model,
    Offline,
    Output,
    Strict,
    TestShare,
    Yes,
)
from ragstone.flows.build.certified import end_build

Falsify = Annotated[
    str | None,
    typer.Option("--falsify", help="False statements too: number,entity,negation,relation, or some of them."),
]
Count = Annotated[int | None, typer.Option("--count", min=1, help="True statements in all, exactly.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of everything that draws at random.")]


def facts(
    sources: BuildSources,
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
    from ragstone.flows.build.fact_rows import build_fact_rows
    from ragstone.flows.build.facts import forecast_facts, with_changes
    from ragstone.flows.build.rows import read_for
    from ragstone.flows.build.session import build_in_session, check_build
    from ragstone.llm import parse_caps

    caps = parse_caps(budget, deadline)
    settings = choose(load_settings(config), "run", seed=seed)
    settings = choose(settings, "build", model=model, count=count, test_share=test_share)
    settings = with_changes(settings, _names(falsify))
    rows = read_for(output, sources, settings)[:limit]
    check_build(rows, settings, None if forecast else output, force)
    if forecast or not offline:
        tell_forecast(forecast_facts(rows, settings), only=forecast, yes=yes, json=json)
    made = build_in_session(
        rows, build_fact_rows, settings, output=output, force=force, caps=caps, offline=offline, progress=bars
    )
    n_false = sum(row.reference == "false" for row in made.questions)
    said = f"{len(made.questions) - n_false} true and {n_false} false statements in {output}"
    end_build(made, said, json=json, strict=strict)


def _names(falsify: str | None) -> list[str] | None:
    """Return the names of an option `a,b`; None where it is not given."""
    return None if falsify is None else [name.strip() for name in falsify.split(",") if name.strip()]
