"""`[bench.judges]` -> the cells to measure, each once, and what was left out because a judge cannot do it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import msgspec

from ragstone.features.bench._board import LeftOutCell
from ragstone.features.bench.judges.values import OWN, JudgeCell
from ragstone.kernel.config import JudgesBench, Settings
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.judging import Judge, judge_names, load_judge
from ragstone.kernel.judging.fields import PromptedJudge
from ragstone.kernel.judging.lexical import LexicalJudge
from ragstone.kernel.judging.stack import StackJudge
from ragstone.kernel.judging.thresholds import fits, off_scale
from ragstone.kernel.judging.unnamed_model import check_model_named
from ragstone.kernel.judging.variant import options_of
from ragstone.kernel.records import NO_MODEL

IN_BENCH = (
    "Name at least one in models of [bench.judges], e.g. openai/gpt-4o-mini, or as model in the table "
    "[judge] of ragstone.toml."
)


class JudgeGrid(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be measured. metric: what the judges are compared by; judges: variant's name -> judge."""

    metric: str
    cells: list[JudgeCell]
    left_out: list[LeftOutCell]
    judges: dict[str, Judge]


def plan_judges(settings: Settings) -> JudgeGrid:
    """Return every combination that `[bench.judges]` declares, judges outermost, then the baselines.

    What a judge's name says after its `@` stays as it is. A way to ask that is the file's own is no variant,
    so nothing is there twice. A judge without a model is there once, and so is one whose file names its
    models. Raises ModelError where a judge lacks one; ConfigError where nothing is named or left, for a
    metric that a judge does not measure, and for two judges of one name.
    """
    declared = settings.bench.judges
    if not declared.judges:
        raise ConfigError("[bench.judges] judges is empty: name at least one, e.g. `correctness`.")
    left_out: dict[str, str] = {}
    variants: dict[str, tuple[Judge, Judge]] = {}
    for name in dict.fromkeys(declared.judges):
        for file, judge in _variants(settings.named(name), declared, left_out):
            if judge.name in variants and variants[judge.name][0] != file:
                raise ConfigError(
                    f"[bench.judges] two judges are named {judge.name!r}: rename one in its file."
                )
            variants[judge.name] = file, judge
    if not variants:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise ConfigError(f"[bench.judges]: no combination is left to measure. {reasons}")
    metric = _metric(declared, [judge for _, judge in variants.values()])
    models = list(dict.fromkeys(declared.models or filter(None, [settings.judge.model])))
    check_model_named([judge for _, judge in variants.values()], models[0] if models else None, IN_BENCH)
    cells = [
        cell_of(file, judge, model, declared.thresholds, several=len(models) > 1)
        for file, judge in variants.values()
        for model in models_tried(judge, models)
    ]
    beside = {judge.name: judge for judge in baselines_of(metric) if judge.name not in variants}
    cells += [
        msgspec.structs.replace(
            cell_of(judge, judge, NO_MODEL, declared.thresholds, several=False), added=True
        )
        for judge in beside.values()
    ]
    judges = {name: judge for name, (_, judge) in variants.items()} | beside
    _check_thresholds(declared, cells)
    return JudgeGrid(
        metric=metric,
        cells=cells,
        left_out=[LeftOutCell(name=name, reason=reason) for name, reason in left_out.items()],
        judges=judges,
    )


def _variants(
    name: str | Path, declared: JudgesBench, left_out: dict[str, str]
) -> Iterator[tuple[Judge, Judge]]:
    """Yield a judge's file and each variant of it; what it cannot do goes to `left_out` with the reason."""
    base, fixed = options_of(str(name))
    file = load_judge(base)
    if file.compares_two:
        raise ConfigError(
            f"judge {file.name!r} compares two answers, but labels are for one answer: leave it out."
        )
    declared_values = {
        "scale": declared.scales,
        "shots": [str(n) for n in declared.shots],
        "prompt": declared.prompts,
        "temperature": [f"{value:g}" for value in declared.temperatures],
    }
    options_of_grid = {key: values for key, values in declared_values.items() if values and key not in fixed}
    if not file.needs_model:
        options_of_grid = {}
    seen = set()
    for chosen in product(*(dict.fromkeys(values) for values in options_of_grid.values())):
        options = fixed | {
            key: value
            for key, value in zip(options_of_grid, chosen, strict=True)
            if not _is_own(file, key, value)
        }
        options_text = ",".join(f"{key}={value}" if value else key for key, value in options.items())
        varied = f"{base}@{options_text}" if options_text else base
        if varied in seen:
            continue
        seen.add(varied)
        try:
            judge = load_judge(varied)
            if (
                "temperature" in options_of_grid
                and isinstance(judge, PromptedJudge)
                and judge.temperature is None
            ):
                judge = msgspec.structs.replace(judge, temperature=0.0)  # whatever the model's settings say
            yield file, judge
        except ConfigError as mistake:
            if options == fixed:  # what the user named cannot be had: no matter of the grid
                raise
            left_out[f"{file.name}@{options_text}"] = str(mistake)


def _is_own(file: Judge, key: str, value: str) -> bool:
    """Return whether an option asks for what the file says anyway."""
    match key:
        case "scale":
            return value == OWN or value == "{:g}-{:g}".format(*file.scale)
        case "shots":
            return int(value) == len(file.shown)
        case "prompt":
            return value == OWN
        case _:
            return float(value) == (file.temperature or 0.0)


def _metric(declared: JudgesBench, judges: Sequence[Judge]) -> str:
    """Return what the judges are compared by. Raises ConfigError if not all of them measure it."""
    metric = declared.metric
    if metric is None:
        common = [each for each in judges[0].metrics if all(each in judge.metrics for judge in judges)]
        if not common:
            measured = ", ".join(f"{judge.name} measures {' and '.join(judge.metrics)}" for judge in judges)
            raise ConfigError(f"[bench.judges] the judges measure different things: {measured}. Set metric.")
        return common[0]
    unable = next((judge for judge in judges if metric not in judge.metrics), None)
    if unable:
        raise ConfigError(
            f"[bench.judges] metric = {metric!r}: judge {unable.name!r} does not measure it. "
            f"{nearest(metric, unable.metrics)}"
        )
    return metric


def models_tried(judge: Judge, models: Sequence[str]) -> Sequence[str]:
    """Return what a judge is tried with: each model; one whose file names all that it asks, once."""
    return models if judge.asks_default else [judge.model_name(NO_MODEL)]


def models_asked(judge: Judge, cell: JudgeCell) -> list[str]:
    """Return the models that a cell asks: that of the cell, and those that the judge's file names."""
    return [*([cell.model] if judge.asks_default else []), *sorted(judge.models)]


def baselines_of(metric: str, *, fitted: bool = False) -> list[Judge]:
    """Return the shipped judges of this metric that need neither a model nor an embedder.

    fitted: also stacks, which were fitted on answers: what they were fitted on cannot test them.
    """
    shipped = (load_judge(name) for name in judge_names())
    kinds = (LexicalJudge, StackJudge) if fitted else LexicalJudge
    return [
        judge
        for judge in shipped
        if isinstance(judge, kinds)
        and metric in judge.metrics
        and not (judge.needs_model or judge.needs_embedder)
    ]


def cell_of(
    file: Judge, judge: Judge, model: str, thresholds: Mapping[str, float], *, several: bool
) -> JudgeCell:
    """Return a cell; a threshold of the file holds for its variants on the same scale."""
    _, _, options_text = judge.name.partition("@")
    options = dict(part.partition("=")[::2] for part in options_text.split(",")) if options_text else {}
    others = [
        f"{key}={value}" if value else key for key, value in options.items() if key in ("token", "samples")
    ]
    return JudgeCell(
        name=f"{judge.name} · {model}" if several and judge.asks_default else judge.name,
        judge=judge.name,
        base=file.name,
        model=model,
        scale=judge.scale,
        shots=len(judge.shown),
        prompt=options.get("prompt", OWN),
        temperature=judge.temperature or 0.0,
        others=",".join(others),
        threshold=thresholds.get(
            judge.name, thresholds.get(file.name) if judge.scale == file.scale else None
        ),
    )


def _check_thresholds(declared: JudgesBench, cells: Sequence[JudgeCell]) -> None:
    known = {name for cell in cells for name in (cell.judge, cell.base)}
    for name in declared.thresholds:
        if name not in known:
            raise ConfigError(f"[bench.judges] thresholds: no judge {name!r} here. {nearest(name, known)}")
    for cell in cells:
        if cell.threshold is not None and not fits(cell.threshold, cell.scale):
            raise ConfigError(
                f"[bench.judges] thresholds: {off_scale(cell.judge, cell.threshold, cell.scale)}"
            )
    if declared.thresholds and declared.mapping:
        raise ConfigError(
            "[bench.judges] thresholds are for labels of 0 and 1, a mapping for labels of another scale: "
            "give one of the two."
        )
