"""`ragstone label`: judgements -> a sheet of answers that people are to label."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import Force, JudgementsFile, Output, Seed
from ragstone.kernel.console.printing import say
from ragstone.kernel.errors import ConfigError, plural

if TYPE_CHECKING:
    from ragstone.features.label.labelling import ToLabel


@reads_rows
def label(
    judgements: JudgementsFile,
    labels: Annotated[Path | None, typer.Argument(help="Existing labels; with --compare, run B.")] = None,
    *,
    output: Output = Path("to-label.jsonl"),
    count: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--count",
            min=1,
            show_default="100; with --where all",
            help="Number of answers; with --compare, of questions.",
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            "--where", help="For a run: label the answers that match a filter; they are not a sample."
        ),
    ] = None,
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Label both answers of two systems, to compare them."),
    ] = False,
    system_a: Annotated[str | None, typer.Option(help="With --compare: the system of A.")] = None,
    system_b: Annotated[str | None, typer.Option(help="With --compare: the system of B.")] = None,
    known: Annotated[Path | None, typer.Option("--labels", help="With --compare: existing labels.")] = None,
    gaps: Annotated[
        bool,
        typer.Option("--gaps", help="Label again where grades differ for the same stated reason."),
    ] = False,
    instructions: Annotated[
        Path | None,
        typer.Option("--instructions", help="Instructions for annotators: labels carry the text's digest."),
    ] = None,
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
            help="How to choose: random, stratified, uncertain, disagreement or ppi "
            "(docs/how-to/labelling.md).",
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
    - `ragstone label runs/before runs/after --compare -n 100`
    - `ragstone label judgements.jsonl labels.jsonl --gaps -n 10 --instructions clearer.md`
    - `ragstone label runs/mine --where "correctness < 50 and topic = maize"`
    """
    from ragstone.features.label._choosing import way_of
    from ragstone.features.label._reading import chosen_rows, drawn_rows, gap_rows, pair_rows
    from ragstone.features.label.labelling import ToLabel
    from ragstone.kernel.runs.summary import chosen_in
    from ragstone.kernel.stages.given import answers_of
    from ragstone.kernel.tables import check_output, keep_sources, write_rows

    method = way_of(by)
    check_output(output, force)
    own_sheet = sheet or answers_of(judgements)
    keep_sources([output], [path for path in (judgements, labels, own_sheet, known, instructions) if path])
    policy = _kept(instructions) if instructions else None
    of_pairs: dict[str, object] = {"--system-a": system_a, "--system-b": system_b, "--labels": known}
    _check_mode(of_pairs, compare=compare, gaps=gaps, sheet=sheet, by=by, stratum=stratum)
    if where is not None:
        _check_where(compare=compare, gaps=gaps, sheet=sheet, by=by, stratum=stratum)
        left = chosen_rows(judgements, labels, where, count, metric, seed)
        write_rows(output, _under(left, policy), ToLabel, force=force)
        say(
            f"{output}: {plural(len(left), 'answer')} to label for {left[0].metric}, chosen by the filter, "
            "so not a sample: their labels count in no mean and no agreement with a judge. "
            f"{_fill_in(left)}, and keep `chosen`."
        )
        return
    count = 100 if count is None else count
    if compare:
        pairs = pair_rows(
            judgements, labels, known, (system_a, system_b), metric=metric, count=count, seed=seed
        )
        write_rows(output, _under(pairs, policy), ToLabel, force=force)
        say(_said_of_pairs(output, pairs, count))
        return
    if gaps:
        again = gap_rows(judgements, labels, own_sheet, metric, count, seed)
        write_rows(output, _under(again, policy), ToLabel, force=force)
        answers = plural(len(again), "answer")
        files = f"{quote(str(judgements))} {quote(str(labels))} --again {quote(str(output))}"
        say(
            f"{output}: {answers} to label again for {again[0].metric}, on which grades differ for the same "
            f"reason. {_fill_in(again)}; then `ragstone agree {files}` says how many flipped."
        )
        return
    chosen = drawn_rows(
        judgements, labels, own_sheet, by=method, strata=stratum, metric=metric, count=count, seed=seed
    )
    from msgspec.structs import replace

    before = chosen_in(judgements)
    if before:
        chosen = [replace(row, chosen=before.where) for row in chosen]
    write_rows(output, _under(chosen, policy), ToLabel, force=force)
    say(_said(output, chosen, count))
    if before:
        say(
            f"{judgements} holds only answers of {before.of} that were chosen ({before.where}), so these are "
            "not a sample: their labels count in no mean and no agreement with a judge. Keep `chosen`."
        )


def _check_mode(
    of_pairs: dict[str, object],
    *,
    compare: bool,
    gaps: bool,
    sheet: Path | None,
    by: str,
    stratum: list[str] | None,
) -> None:
    """Refuse options that another mode alone takes. of_pairs: option of --compare -> its value.

    Raises ConfigError.
    """
    if compare and gaps:
        raise ConfigError(
            "--compare draws new questions and --gaps labels some again: give only one of the two."
        )
    values = {"--sheet": sheet if compare else None, "--by": None if by == "stratified" else by}
    wrong = [name for name, value in {**values, "--stratum": stratum}.items() if value is not None]
    if wrong and (compare or gaps):
        mode, own = "--gaps", "takes the rows of the gaps"
        if compare:
            mode = "--compare"
            own = "draws questions in its own way and reads texts in the folders of the runs"
        raise ConfigError(f"{', '.join(wrong)} cannot be used with {mode}, which {own}. Leave it out.")
    wrong = [name for name, value in of_pairs.items() if value is not None]
    if wrong and not compare:
        raise ConfigError(f"{', '.join(wrong)}: only with --compare, which labels two systems' answers.")


def _check_where(
    *, compare: bool, gaps: bool, sheet: Path | None, by: str, stratum: list[str] | None
) -> None:
    """Refuse options that draw, beside a filter that chooses. Raises ConfigError."""
    values = {"--compare": compare, "--gaps": gaps, "--sheet": sheet, "--stratum": stratum}
    values["--by"] = by != "stratified"
    wrong = [name for name, value in values.items() if value]
    if wrong:
        raise ConfigError(
            f"{', '.join(wrong)} cannot be used with --where, which takes the run's answers that match the "
            "filter. Leave out one of them."
        )


def _kept(instructions: Path) -> str:
    """Keep a text with the project's policies; return its digest. Raises DataError."""
    from ragstone.features.label.labelling import keep_instructions
    from ragstone.kernel.config import load_settings
    from ragstone.kernel.errors import DataError

    try:
        text = instructions.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as mistake:
        raise DataError(f"{instructions}: cannot be read as text ({mistake}). Give a UTF-8 file.") from None
    return keep_instructions(load_settings(), text)


def _under(rows: "list[ToLabel]", policy: str | None) -> "list[ToLabel]":
    from msgspec.structs import replace

    return [replace(row, policy=policy) for row in rows] if policy else rows


def _fill_in(rows: "list[ToLabel]") -> str:
    """Return what to fill in, on which scale: `Fill in `score` (0 to 1)`."""
    return f"Fill in `score` ({rows[0].scale})" if rows[0].scale else "Fill in `score`"


def _said_of_pairs(output: Path, rows: "list[ToLabel]", count: int) -> str:
    n = len(rows) // 2
    fewer = f" No more are shared: {n} instead of {count}." if n < count else ""
    columns = "`inclusion`, `queue` and `run`" if rows[0].run else "`inclusion` and `queue`"
    return (
        f"{output}: both answers to {n} question{'s' if n > 1 else ''}, side by side, to label for "
        f"{rows[0].metric}.{fewer} {_fill_in(rows)} from the top, always for both, and delete the rows that "
        f"you do not get to. Keep {columns}: `ragstone compare A B --labels` needs them."
    )


def _said(output: Path, chosen: "list[ToLabel]", count: int) -> str:
    fewer = (
        f" There are only {len(chosen)} of {count}: an answer that has a label, or that the judge was fitted "
        "on, is not drawn."
        if len(chosen) < count
        else ""
    )
    weighed = (
        " Keep `inclusion` and `queue`: answers had unequal chances of being chosen."
        if chosen[0].inclusion
        else ""
    )
    return (
        f"{output}: {plural(len(chosen), 'answer')} to label for {chosen[0].metric}, in random order.{fewer} "
        f"{_fill_in(chosen)} from the top, and delete the rows that you do not get to.{weighed}"
    )
