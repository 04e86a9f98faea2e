"""`ragstone label`: judgements -> a sheet of answers that people are to label."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import Force, JudgementsFile, Output, Seed
from ragstone.kernel.console.printing import say

if TYPE_CHECKING:
    from ragstone.features.label.labelling import ToLabel


@reads_rows
def label(
    judgements: JudgementsFile,
    labels: Annotated[Path | None, typer.Argument(help="Labels that exist already.")] = None,
    *,
    output: Output = Path("to-label.jsonl"),
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="Number of answers.")] = 100,
    metric: Annotated[
        str | None, typer.Option("--metric", help="Metric to label, if the judges measure several.")
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option("--sheet", help="The answer sheet, for the texts to read; a run has its own."),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            help="How to choose: random, stratified, uncertain, disagreement or ppi (docs/labelling.md).",
        ),
    ] = "stratified",
    stratum: Annotated[
        list[str] | None,
        typer.Option("--stratum", help="For stratified: spread over system, score or a tag."),
    ] = None,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Choose answers for people to label: a random sample, spread over the judge's scores.

    Examples:

    - `ragstone label judgements.jsonl --sheet answers.jsonl -n 50`
    - `ragstone label judgements.jsonl labels.jsonl --by uncertain`
    """
    from ragstone.features.label._choosing import SPREAD_EVENLY, way_of
    from ragstone.features.label.labelling import ToLabel, next_to_label
    from ragstone.kernel.records import Answer, Judgement, Label
    from ragstone.kernel.stages.given import answers_of, judgements_of
    from ragstone.kernel.tables import check_output, keep_sources, read_rows, write_rows

    method = way_of(by)
    check_output(output, force)
    sheet = sheet or answers_of(judgements)
    keep_sources([output], [path for path in (judgements, labels, sheet) if path])
    chosen = next_to_label(
        (row for row in read_rows(judgements_of(judgements), Judgement) if metric in (None, row.metric)),
        read_rows(labels, Label) if labels else (),
        n=count,
        answers=read_rows(sheet, Answer) if sheet else (),
        by=method,
        strata=stratum or SPREAD_EVENLY,
        seed=seed,
    )
    write_rows(output, chosen, ToLabel, force=force)
    say(_said(output, chosen, count))


def _said(output: Path, chosen: "list[ToLabel]", count: int) -> str:
    fewer = f" No more are left: {len(chosen)} in place of {count}." if len(chosen) < count else ""
    weighed = " Keep `inclusion` and `queue`: their chances were not equal." if chosen[0].inclusion else ""
    return (
        f"{output}: {len(chosen)} answers to label for {chosen[0].metric}, in random order.{fewer} "
        f"Fill in `score` from the top, and delete the rows that you do not get to.{weighed}"
    )
