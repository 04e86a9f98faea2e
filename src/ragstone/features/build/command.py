"""`ragstone build`: documents -> sets that are checked and certified, and kept when documents change."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ragstone.kernel.console.asking import Asking, asks_models, cut_off, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import AsJson, Config, Force, Limit, Model, Output, SeedOfRun, Strict
from ragstone.kernel.console.printing import UNSCORED, say, show, show_documents, show_json
from ragstone.kernel.console.repeating import repeatable
from ragstone.kernel.errors import plural

if TYPE_CHECKING:
    from ragstone.features.build._session import Make
    from ragstone.features.build.certificate.page import EvaluationSet
    from ragstone.kernel.config import Settings
    from ragstone.kernel.llm.forecast import Forecast
    from ragstone.kernel.stages.given import Taggable


Glob = Annotated[list[str] | None, typer.Option("--glob", help="In folders, only files that match.")]
PerDocument = Annotated[
    int | None, typer.Option("--per-document", min=1, help="Questions per document; default 3.")
]
Count = Annotated[
    int | None, typer.Option("--count", min=1, help="Exact number of accepted questions to end with.")
]
Style = Annotated[
    list[str] | None,
    typer.Option("--style", help="Kind of question: factoid, bloom, ... or a .toml file; may be repeated."),
]
CriticModel = Annotated[
    str | None, typer.Option("--critic-model", help="Model for the critics; default: the writing model.")
]
OneCall = Annotated[bool | None, typer.Option("--one-call", help="Ask all critics in one call per question.")]
ClosedBook = Annotated[
    Literal["off", "tag", "drop"] | None,
    typer.Option(
        "--closed-book", help="off, tag or drop: questions that the model answers without a document."
    ),
]
Negatives = Annotated[
    int | None, typer.Option("--negatives", min=0, help="Number of questions that no document answers.")
]
MultiHop = Annotated[
    int | None, typer.Option("--multi-hop", min=0, help="Number of questions that need two documents.")
]
Hops = Annotated[
    int | None,
    typer.Option("--hops", min=2, max=3, help="Documents that a multi-hop question needs; default 2."),
]
Fictional = Annotated[
    bool | None, typer.Option("--fictional", help="Also write a copy with invented names and years.")
]

BuildSources = Annotated[
    list[Path], typer.Argument(help="A file of documents or chunks; or files and folders to ingest.")
]
TestShare = Annotated[
    float | None,
    typer.Option(
        "--test-share", min=0, max=1, help="Share of the documents whose questions are held out for testing."
    ),
]


@repeatable("build")
@reads_rows
@asks_models("whole")
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
    hops: Hops = None,
    fictional: Fictional = None,
    test_share: TestShare = None,
    limit: Limit = None,
    seed: SeedOfRun = None,
    asking: Asking,
) -> None:
    """Write questions about documents, and keep those that pass the checks and the critics.

    Examples:

    - `ragstone build questions handbook/ --count 50 --model openai/gpt-4o-mini`
    - `ragstone build questions documents.jsonl --style factoid --negatives 10 --forecast`
    """
    from ragstone.features.build.questions import build_rows, forecast_questions

    settings = asking.settings(
        run={"seed": seed},
        documents={"glob": glob},
        build={
            "model": model,
            "critic_model": critic_model,
            "styles": style,
            "per_document": per_document,
            "count": count,
            "test_share": test_share,
            "one_call": one_call,
            "closed_book": closed_book,
            "fictional": fictional,
            "negatives": negatives,
            "multi_hop": multi_hop,
            "hops": hops,
        },
    )
    made = _build(
        sources, settings, build_rows, forecast_questions, output=output, limit=limit, asking=asking
    )
    _end(made, f"{plural(len(made.questions), 'question')} in {output}", asking)


Falsify = Annotated[
    str | None,
    typer.Option(
        "--falsify", help="Also write false statements, by these changes: number,entity,negation,relation."
    ),
]
FactCount = Annotated[
    int | None, typer.Option("--count", min=1, help="Exact number of true statements to end with.")
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of all random choices.")]


@repeatable("build")
@reads_rows
@asks_models("whole")
def facts(
    sources: BuildSources,
    *,
    output: Output = Path("facts/facts.jsonl"),
    model: Model = None,
    falsify: Falsify = None,
    count: FactCount = None,
    test_share: TestShare = None,
    limit: Limit = None,
    seed: Seed = None,
    asking: Asking,
) -> None:
    """Write true statements about documents, and make false ones by small changes, for true/false tests.

    Examples:

    - `ragstone build facts handbook/ --model openai/gpt-4o-mini`
    - `ragstone build facts documents.jsonl --falsify number,negation --count 100`
    """
    from ragstone.features.build.facts import build_fact_rows, forecast_facts, with_changes

    settings = asking.settings(
        run={"seed": seed}, build={"model": model, "count": count, "test_share": test_share}
    )
    changes = None if falsify is None else [name.strip() for name in falsify.split(",") if name.strip()]
    settings = with_changes(settings, changes)
    made = _build(
        sources, settings, build_fact_rows, forecast_facts, output=output, limit=limit, asking=asking
    )
    n_false = sum(row.reference == "false" for row in made.questions)
    outcome = f"{len(made.questions) - n_false} true and {n_false} false statements in {output}"
    _end(made, outcome, asking)


RefreshedSet = Annotated[Path, typer.Argument(metavar="QUESTIONS", help="The evaluation set.")]
RefreshSources = Annotated[
    list[Path], typer.Argument(help="The documents of today: a file of them; or files and folders to ingest.")
]


@repeatable("build")
@reads_rows
def refresh(
    questions: RefreshedSet,
    sources: RefreshSources,
    *,
    output: Output = Path("questions/refreshed.jsonl"),
    glob: Glob = None,
    config: Config = None,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Find the evidence of a set again in documents that have changed; set aside what is stale.

    Examples:

    - `ragstone build refresh questions.jsonl documents.jsonl`
    - `ragstone build refresh questions.jsonl handbook/ -o questions/2026-12.jsonl`
    """
    from ragstone.features.build.refresh import refresh_file, refresh_lines, stale_path
    from ragstone.kernel.config import choose, load_settings

    settings = choose(load_settings(config), "documents", glob=glob)
    summary = refresh_file(questions, sources, output, settings=settings, force=force).summary
    if json:
        show_json(summary)
    else:
        show(*refresh_lines(summary))
    say(f"New set: {summary.files[0]} ({plural(summary.n_questions - summary.set_aside, 'question')})")
    if summary.set_aside:
        say(f"Set aside: {summary.files[1]} ({plural(summary.set_aside, 'question')})")
    elif stale_path(output).exists():
        say(f"{stale_path(output)} was there before and was not touched: no question is stale now.")
    if strict and summary.set_aside:
        raise typer.Exit(UNSCORED)


def _build(
    sources: list[Path],
    settings: "Settings",
    make: "Make",
    forecast: "Callable[[Sequence[Taggable], Settings], Forecast]",
    *,
    output: Path,
    limit: int | None,
    asking: Asking,
) -> "EvaluationSet":
    """Return what `make` makes of the sources, after the forecast of it."""
    from ragstone.features.build._session import build_in_session, check_build, read_for

    rows = read_for(output, sources, settings)[:limit]
    check_build(rows, settings, None if asking.forecast else output, asking.force)
    asking.tell_forecast(lambda: forecast(rows, settings))
    return build_in_session(rows, make, settings, output=output, force=asking.force, how=asking.session)


def _end(made: "EvaluationSet", outcome: str, asking: Asking) -> None:
    """Show the certificate of an evaluation set, what it cost, and the outcome with its files.

    Raises typer.Exit as the calls demand, and with 5 for an empty set and, under --strict, for one that is
    not whole.
    """
    from ragstone.features.build.certificate.page import BuildOutput, certificate_document
    from ragstone.features.build.certificate.wording import what_was_lost
    from ragstone.kernel.runs.wording import asked_line

    if asking.json:
        files = [str(path) for path in made.files]
        show_json(BuildOutput(certificate=made.certificate, calls=made.calls, files=files))
    else:
        show_documents(certificate_document(made.certificate), whole=asking.whole)
    say(asked_line(made.calls))
    say(f"{outcome}; all drafts, the rejected ones too, are in the same folder.")
    if made.built.declared.test_share:
        counts = Counter(made.sides.values())
        say(
            f"Split by document: {counts['dev']} to develop with (dev), {counts['test']} to test with (test)."
        )
    leave(cut_off(made.calls), made.calls, strict=asking.strict, lost=not made.is_whole)
    if not made.questions:
        say(f"The set is empty. {what_was_lost(made.certificate)}")
        raise typer.Exit(UNSCORED)
