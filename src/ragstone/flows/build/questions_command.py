"""`ragstone build questions`: documents -> questions that are checked, criticised and certified."""

from pathlib import Path
from typing import Annotated, Literal

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
    SeedOfRun,
    Strict,
    TestShare,
    Yes,
)
from ragstone.flows.build.certified import end_build

Glob = Annotated[list[str] | None, typer.Option("--glob", help="Of folders, only files that match.")]
PerDocument = Annotated[int | None, typer.Option("--per-document", min=1, help="Questions a document; 3.")]
Count = Annotated[int | None, typer.Option("--count", min=1, help="Accepted questions in all, exactly.")]
Style = Annotated[
    list[str] | None, typer.Option("--style", help="factoid, bloom... or a .toml file; may be repeated.")
]
CriticModel = Annotated[str | None, typer.Option("--critic-model", help="Default: the writing model.")]
OneCall = Annotated[bool | None, typer.Option("--one-call", help="All critics in one call a question.")]
ClosedBook = Annotated[
    Literal["off", "tag", "drop"] | None,
    typer.Option("--closed-book", help="Questions that the model answers without a document."),
]
Negatives = Annotated[int | None, typer.Option("--negatives", min=0, help="Questions nothing answers.")]
MultiHop = Annotated[int | None, typer.Option("--multi-hop", min=0, help="Questions over two documents.")]
Fictional = Annotated[
    bool | None, typer.Option("--fictional", help="Write a copy with other names and years, too.")
]


def questions(
    sources: BuildSources,
    *,
    output: Output = Path("questions/questions.jsonl"),
    model: Model = None,
    critic_model: CriticModel = None,
    glob: Glob = None,
    per_document: PerDocument = None,
    count: Count = None,
    style: Style = None,
    one_call: OneCall = None,
    closed_book: ClosedBook = None,
    negatives: Negatives = None,
    multi_hop: MultiHop = None,
    fictional: Fictional = None,
    test_share: TestShare = None,
    limit: Limit = None,
    seed: SeedOfRun = None,
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
    """Write questions about documents, and keep those that checks and critics let pass."""
    from ragstone.config import choose, load_settings
    from ragstone.flows.build.building import build_rows
    from ragstone.flows.build.questions import forecast_questions
    from ragstone.flows.build.rows import read_for
    from ragstone.flows.build.session import build_in_session, check_build
    from ragstone.llm import parse_caps
    from ragstone.report.wording import plural

    caps = parse_caps(budget, deadline)
    settings = choose(choose(load_settings(config), "run", seed=seed), "documents", glob=glob)
    settings = choose(settings, "build", model=model, critic_model=critic_model, styles=style)
    settings = choose(settings, "build", per_document=per_document, count=count, test_share=test_share)
    settings = choose(settings, "build", one_call=one_call, closed_book=closed_book, fictional=fictional)
    settings = choose(settings, "build", negatives=negatives, multi_hop=multi_hop)
    rows = read_for(output, sources, settings)[:limit]
    check_build(rows, settings, None if forecast else output, force)
    if forecast or not offline:
        tell_forecast(forecast_questions(rows, settings), only=forecast, yes=yes, json=json)
    made = build_in_session(
        rows, build_rows, settings, output=output, force=force, caps=caps, offline=offline, progress=bars
    )
    end_build(made, f"{plural(len(made.questions), 'question')} in {output}", json=json, strict=strict)
