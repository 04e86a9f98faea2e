"""`ragstone compare`: two runs -> better, worse, or cannot tell; with --gate the exit code says it too."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.console.columns import reads_rows
from ragstone.console.options import AsJson, Bounds
from ragstone.console.printing import CANNOT_TELL, FAILED_GATE, say, show, show_json

if TYPE_CHECKING:
    from ragstone.experiments.compared import Comparison

EXIT = {"passed": 0, "failed": FAILED_GATE, "cannot tell": CANNOT_TELL}


Gate = Annotated[
    bool, typer.Option("--gate", help="Exit with 1 if B is worse, with 3 if the rows do not decide.")
]
MARGIN_HELP = "Pass B if it is not worse by more than this share of the scale, e.g. 0.03."
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", help="Only this metric or judge; may be repeated.")
]
Shared = Annotated[bool, typer.Option("--shared", help="Compare only the questions that both have.")]
Asked = Annotated[
    Path | None,
    typer.Option("--questions", help="The questions, if A and B are only files of judgements."),
]
MinEffect = Annotated[
    float, typer.Option("--min-effect", help="Smallest difference worth finding, as a share of the scale.")
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Also write it as Markdown, for a pull request, or as a .html page."),
]


@reads_rows
def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="The run to compare with, or its judgements.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The new run, or its judgements.")],
    *,
    gate: Gate = False,
    margin: Annotated[float | None, typer.Option("--margin", help=MARGIN_HELP)] = None,
    metric: Metrics = None,
    shared: Shared = False,
    system_a: Annotated[str | None, typer.Option(help="System to take from A, if it has several.")] = None,
    system_b: Annotated[str | None, typer.Option(help="System to take from B, if it has several.")] = None,
    questions: Asked = None,
    min_effect: MinEffect = 0.02,
    output: Output = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Seed of the confidence intervals and tests.")
    ] = 0,
    bounds: Bounds = False,
    json: AsJson = False,
) -> None:
    """Say whether run B is better or worse than run A, or that the questions do not decide.

    Examples:

    - `ragstone compare runs/before runs/after`
    - `ragstone compare runs/before runs/after --gate --margin 0.03`
    """
    from ragstone.flows.compare.comparing import compare as compare_runs
    from ragstone.tables import check_place, keep_sources

    if output:
        keep_sources([output], [path for path in (a, b, questions) if path])
        check_place(output, force=True)
    found = compare_runs(
        a,
        b,
        metrics=metric or (),
        system_a=system_a,
        system_b=system_b,
        questions=questions,
        shared=shared,
        margin=margin,
        min_effect=min_effect,
        seed=seed,
        bounds=bounds,
    )
    _tell(found, output, gated=gate or margin is not None, json=json)
    if gate:
        raise typer.Exit(EXIT[found.gate.outcome])


def _tell(found: "Comparison", output: Path | None, *, gated: bool, json: bool) -> None:
    from ragstone.report.compare import comparison_document
    from ragstone.report.render.html import put_page, render_page
    from ragstone.report.render.markdown import render_markdown
    from ragstone.report.render.terminal import render_terminal

    document = comparison_document(found, gated=gated)
    if output:
        as_page = output.suffix.lower() in (".html", ".htm")
        put_page(output, render_page(document) if as_page else render_markdown(document))
        say(f"Comparison: {output}")
    if json:
        show_json(found)
    else:
        show(render_terminal(document))
