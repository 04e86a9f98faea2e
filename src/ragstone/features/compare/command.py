"""`ragstone compare`: two runs -> better, worse, or cannot tell; with --gate the exit code says it too."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import AsJson, Bounds, Config, Whole
from ragstone.kernel.console.printing import CANNOT_TELL, FAILED_GATE, say, show_found

if TYPE_CHECKING:
    from ragstone.kernel.document.blocks import ReportDocument

EXIT = {"passed": 0, "failed": FAILED_GATE, "cannot tell": CANNOT_TELL}


Gate = Annotated[
    bool,
    typer.Option("--gate", help="Exit with 1 if B is worse, with 3 if the rows do not decide; see [gate]."),
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
    float | None,
    typer.Option(
        "--min-effect", help="Smallest difference worth finding, as a share of the scale; else 0.02."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Also write it as Markdown, for a pull request, or as a .html page."),
]

LabelsFile = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        help="People's labels of both sides' answers: the verdict is then about what people would see.",
    ),
]
Mapped = Annotated[
    list[str] | None,
    typer.Option("--map", help="LABEL=SCORE, e.g. good=1,bad=0: what labels stand for on the judge's scale."),
]
Policy = Annotated[
    str | None,
    typer.Option("--policy", help="Only labels given under these instructions (their digest, or none)."),
]
Where = Annotated[
    str | None,
    typer.Option("--where", help='Only questions that match a filter in A or B, e.g. "topic = maize".'),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the confidence intervals and tests.")]
More = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[C]...", help="More runs: the means of all side by side, without a verdict."),
]


By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        help=(
            "With three runs or more: a setting to arrange the means by, such as prompt; a second one for "
            "the columns."
        ),
    ),
]


@reads_rows
def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="The run to compare with, or its judgements.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The new run, or its judgements.")],
    more: More = None,
    *,
    gate: Gate = False,
    margin: Annotated[float | None, typer.Option("--margin", help=MARGIN_HELP)] = None,
    metric: Metrics = None,
    shared: Shared = False,
    system_a: Annotated[str | None, typer.Option(help="System to take from A, if it has several.")] = None,
    system_b: Annotated[str | None, typer.Option(help="System to take from B, if it has several.")] = None,
    questions: Asked = None,
    min_effect: MinEffect = None,
    output: Output = None,
    seed: Seed = 0,
    bounds: Bounds = False,
    labels: LabelsFile = None,
    mapping: Mapped = None,
    policy: Policy = None,
    where: Where = None,
    by: By = None,
    config: Config = None,
    json: AsJson = False,
    whole: Whole = False,
) -> None:
    """Say whether run B is better or worse than run A, or that the questions do not decide.

    Examples:

    - `ragstone compare runs/before runs/after`
    - `ragstone compare runs/before runs/after --gate --margin 0.03`
    - `ragstone compare runs/before runs/after --labels pairs.jsonl --gate`
    - `ragstone compare runs/before runs/after --where "topic = maize"`
    - `ragstone compare runs/may runs/june runs/july`
    - `ragstone compare runs/may runs/june runs/july --by k`
    """
    from ragstone.features.compare.comparing import compare as compare_runs
    from ragstone.features.compare.paired import EFFECT

    _check_output(output, [path for path in (a, b, *(more or ()), questions, labels) if path])
    if more:
        pair: dict[str, object] = {"--gate": gate, "--margin": margin, "--shared": shared, "--bounds": bounds}
        pair |= {"--questions": questions, "--min-effect": min_effect}
        pair |= {"--system-a": system_a, "--system-b": system_b, "--labels": labels, "--map": mapping}
        pair |= {"--policy": policy, "--where": where}
        _tell_several([a, b, *more], metric or (), seed, by or (), pair, output, json=json, whole=whole)
        return
    if by:
        from ragstone.kernel.errors import ConfigError

        raise ConfigError("--by arranges the means of three runs or more. Name more runs, or leave it out.")
    from ragstone.kernel.agreement.mapping import read_mapping
    from ragstone.kernel.config import load_settings

    if gate:
        settings = load_settings(config)
        labels = labels or (settings.path(settings.gate.labels) if settings.gate.labels else None)
        margin = settings.gate.margin if margin is None else margin
    words, numbers = read_mapping(mapping or ())
    comparison = compare_runs(
        a,
        b,
        metrics=metric or (),
        system_a=system_a,
        system_b=system_b,
        questions=questions,
        shared=shared,
        margin=margin,
        min_effect=EFFECT if min_effect is None else min_effect,
        seed=seed,
        bounds=bounds,
        labels=labels,
        policy=policy,
        where=where,
        mapping=words | {str(label): score for label, score in (numbers or {}).items()},
    )
    from ragstone.features.compare.words import comparison_document

    document = comparison_document(comparison, gated=gate or margin is not None)
    _show(comparison, document, output, json=json, whole=whole)
    if gate:
        raise typer.Exit(EXIT[comparison.gate.outcome])


def _check_output(output: Path | None, sources: list[Path]) -> None:
    from ragstone.kernel.tables import check_place, keep_sources

    if output:
        keep_sources([output], sources)
        check_place(output, force=True)


def _tell_several(
    runs: list[Path],
    metrics: Collection[str],
    seed: int,
    by: Collection[str],
    pair: Mapping[str, object],
    output: Path | None,
    *,
    json: bool,
    whole: bool,
) -> None:
    """Show the means of several runs. pair: values of the options that two runs alone take."""
    from ragstone.features.compare.several import compare_several, several_document
    from ragstone.kernel.errors import ConfigError

    unfit = [option for option, value in pair.items() if value is not None and value is not False]
    if unfit:
        raise ConfigError(f"{', '.join(unfit)}: only for two runs, but {len(runs)} are named. Name only two.")
    runs_compared = compare_several(runs, metrics=metrics, seed=seed, by=list(by))
    _show(runs_compared, several_document(runs_compared), output, json=json, whole=whole)


def _show(value: object, document: "ReportDocument", output: Path | None, *, json: bool, whole: bool) -> None:
    if output:
        from ragstone.kernel.document.output import write_document

        write_document(output, document)
        say(f"Comparison: {output}")
    show_found(value, lambda: document, json=json, whole=whole)
