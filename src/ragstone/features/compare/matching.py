"""Two judged runs -> whether they may be compared: the same questions, the same judges, the same models."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from ragstone.kernel.decimals import scale_text
from ragstone.kernel.errors import DataError, nearest, plural
from ragstone.kernel.judging.repeated import lowest_is_best
from ragstone.kernel.records import JOINT_SUFFIX, Answer, Judgement, Question, Ranking, references
from ragstone.kernel.runs.settings import RunManifest
from ragstone.kernel.runs.summary import ChosenAnswers

SHOWN = 3  # questions that an error names
Key = tuple[str, str, str]
"""Judge, metric and model."""


class JudgedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run as far as it is compared. judges: name -> digest of its file, None where nothing tells it.

    same, lengths: of its documents, see measure_queries. manifest: None where there is none. unfolded: the
    judgements of every repeat, where `judgements` are the means of them. chosen: how its answers were chosen
    from others, None where nothing says so. stale: as of RunSummary.
    """

    name: str
    judgements: list[Judgement]
    answers: list[Answer] = []
    questions: list[Question] = []
    rankings: list[Ranking] = []
    same: dict[str, str] = {}
    lengths: dict[str, int] = {}
    judges: dict[str, str] | None = None
    manifest: RunManifest | None = None
    unfolded: list[Judgement] = []
    chosen: ChosenAnswers | None = None
    stale: dict[str, str] = {}


def is_low_best(judge: str, runs: Iterable[JudgedRun]) -> bool:
    """Return whether the lowest score of a judge is the good one, by the manifests of runs, else its name."""
    name = _file_of(judge)
    directions = [
        run.manifest.judges[name].best for run in runs if run.manifest and name in run.manifest.judges
    ]
    return "lowest" in directions or lowest_is_best(judge)


class Matched(msgspec.Struct, frozen=True, kw_only=True):
    """What two runs share. systems: of A and B, in pairs; ids: questions, in the order of A's judgements."""

    systems: list[tuple[str, str]]
    ids: list[str]
    n_left_out: int
    keys: dict[tuple[str, str], list[Key]]
    only_a: list[str]
    only_b: list[str]


def match(
    a: JudgedRun,
    b: JudgedRun,
    *,
    metrics: Collection[str] = (),
    systems: tuple[str | None, str | None] = (None, None),
    shared: bool | None = False,
) -> Matched:
    """Return what is compared with what.

    metrics: names of metrics or judges, in place of all that both have. systems: one of A and one of B, in
    place of those of equal names or the only one of each. shared: leave out questions that one lacks or words
    otherwise; None where the caller cannot ask for that. Raises DataError, naming what differs: systems,
    questions, judges, models, scales.
    """
    for side in (a, b):
        if not side.judgements:
            raise DataError(f"{side.name} has no judgements, so there is nothing to compare.")
        known = {name for row in side.judgements for name in (row.judge, row.metric)}
        for name in metrics:
            if name not in known:
                raise DataError(f"{side.name} has no metric {name!r}. {nearest(name, known)}")
    pairs = _systems(a, b, systems)
    judged_of_a, judged_of_b = (
        dict.fromkeys(row.question_id for row in side.judgements if row.system in named)
        for side, named in zip((a, b), zip(*pairs, strict=True), strict=True)
    )
    ids, n_left_out = same_questions(a, b, judged_of_a, judged_of_b, shared=shared)
    keys, problems = {}, []
    for pair in pairs:
        ours, theirs = (_by_name(side, system, metrics) for side, system in zip((a, b), pair, strict=True))
        keys[pair] = [key for name in ours if name in theirs for key in ours[name] if key in theirs[name]]
        problems += [
            problem
            for name in ours
            if name in theirs
            for problem in _differing(name, ours[name], theirs[name])
        ]
    problems += _other_files(a, b, {judge for of_pair in keys.values() for judge, _, _ in of_pair})
    if problems:
        raise _cannot(a, b, list(dict.fromkeys(problems)), "Judge both in the same way.")
    if not any(keys.values()):
        raise _cannot(a, b, ["they share no metric"], f"A has {_metrics(a)}; B has {_metrics(b)}.")
    return Matched(
        systems=pairs,
        ids=ids,
        n_left_out=n_left_out,
        keys=keys,
        only_a=_only(a, b, pairs, metrics),
        only_b=_only(b, a, [(second, first) for first, second in pairs], metrics),
    )


def _cannot(a: JudgedRun, b: JudgedRun, problems: Sequence[str], advice: str) -> DataError:
    return DataError(f"{a.name} (A) and {b.name} (B) cannot be compared: {'; '.join(problems)}. {advice}")


def _metrics(side: JudgedRun) -> str:
    return ", ".join(sorted({row.metric for row in side.judgements}))


def _systems(a: JudgedRun, b: JudgedRun, named: tuple[str | None, str | None]) -> list[tuple[str, str]]:
    """Return the pairs of systems: those asked for, else equal names, else the only one of each."""
    ours, theirs = (list(dict.fromkeys(row.system for row in side.judgements)) for side in (a, b))
    for side, name, known in ((a, named[0], ours), (b, named[1], theirs)):
        if name is not None and name not in known:
            raise DataError(f"{side.name} has no system {name!r}. {nearest(name, known)}")
    ours = [named[0]] if named[0] is not None else ours
    theirs = [named[1]] if named[1] is not None else theirs
    if len(ours) == len(theirs) == 1:
        return [(ours[0], theirs[0])]
    both = [(name, name) for name in ours if name in theirs]
    if not both:
        raise _cannot(
            a,
            b,
            [f"A has the systems {', '.join(ours)}; B has {', '.join(theirs)}"],
            "Say which two: system_a and system_b (--system-a NAME --system-b NAME).",
        )
    return both


def same_questions(
    a: JudgedRun, b: JudgedRun, ours: Collection[str], theirs: Collection[str], *, shared: bool | None
) -> tuple[list[str], int]:
    """Return the ids that both have, with the same wording, and how many others there are.

    ours, theirs: the ids of A and of B. shared: see match. Raises DataError where they are not the same.
    """
    mine, said_b = _said(a), _said(b)
    common = [name for name in ours if name in theirs]
    reworded = [name for name in common if _differ(mine, said_b, name, 0)]
    other = [name for name in common if _differ(mine, said_b, name, 1) and not _differ(mine, said_b, name, 0)]
    missing = [name for name in ours if name not in theirs]
    further = [name for name in theirs if name not in ours]
    lines = {
        "only in A": missing,
        "only in B": further,
        "whose text differs": reworded,
        "whose reference differs": other,
    }
    problems = [
        f"{plural(len(names), 'question')} {what}: {', '.join(names[:SHOWN])}{', …' * (len(names) > SHOWN)}"
        for what, names in lines.items()
        if names
    ]
    differing = {*reworded, *other}
    same = [name for name in common if name not in differing]
    if not same:
        raise _cannot(a, b, ["they share no question", *problems], "Answer and judge the same questions.")
    if problems and not shared:
        choice = f", or compare the {len(same):,} that both have: --shared" if shared is False else ""
        advice = f"Answer and judge the same questions{choice}."
        raise _cannot(a, b, problems, advice)
    return same, len(missing) + len(further) + len(reworded) + len(other)


class SharedQuestions(msgspec.Struct, frozen=True):
    """Which questions some columns have in common.

    n: ids that all have, with one text and reference. n_known: ids that any has. reworded: those that have
    another text or reference in one column than in another.
    """

    n: int
    n_known: int
    reworded: frozenset[str]


def shared_questions(columns: Sequence[tuple[JudgedRun, Collection[str]]]) -> SharedQuestions:
    """Return what is common to columns, each a run and the ids of its questions. At least one is needed."""
    texts = {id(run): _said(run) for run, _ in columns}
    first_of: dict[str, Mapping[str, Said]] = {}
    reworded = set()
    for run, ids in columns:
        own = texts[id(run)]
        for name in ids:
            other = first_of.setdefault(name, own)
            if _differ(other, own, name, 0) or _differ(other, own, name, 1):
                reworded.add(name)
    common = set(first_of).intersection(*(ids for _, ids in columns)) - reworded
    return SharedQuestions(len(common), len(first_of), frozenset(reworded))


Said = tuple[str | None, tuple[str, ...] | None]


def _said(side: JudgedRun) -> dict[str, Said]:
    """Return what a run tells of each question: its text and its references, None where it is silent."""
    texts: dict[str, Said] = {}
    for row in side.questions:
        texts[row.id] = (_plain(row.question), tuple(map(_plain, references(row))))
    for answer in side.answers:
        if answer.question_id not in texts:
            text = _plain(answer.question) if answer.question else None
            texts[answer.question_id] = (text, tuple(map(_plain, references(answer))) or None)
    return texts


def _plain(text: str) -> str:
    return " ".join(text.split())


def _differ(ours: Mapping[str, Said], theirs: Mapping[str, Said], name: str, part: int) -> bool:
    mine, other = ours.get(name, (None, None))[part], theirs.get(name, (None, None))[part]
    return mine is not None and other is not None and mine != other


Named = dict[tuple[str, str], dict[Key, Judgement]]


def _by_name(side: JudgedRun, system: str, metrics: Collection[str]) -> Named:
    """Return judge and metric -> each model's first judgement of a system. Raises DataError for a mixture."""
    by_name: Named = {}
    seen: set[tuple[str, Key]] = set()
    for row in side.judgements:
        if row.system != system or (metrics and not {row.judge, row.metric} & set(metrics)):
            continue
        key = (row.judge, row.metric, row.model)
        first = by_name.setdefault((row.judge, row.metric), {}).setdefault(key, row)
        if (row.question_id, key) in seen:
            raise DataError(
                f"{side.name}: {row.judge} ({row.metric}, {row.model}) judged the answer of {system!r} to "
                f"question {row.question_id!r} twice. Keep one of the two."
            )
        if (row.prompt_version, row.scale) != (first.prompt_version, first.scale):
            raise DataError(
                f"{side.name}: {row.judge} ({row.metric}) judged some answers in version "
                f"{first.prompt_version} ({_scale(first)}) and others in version {row.prompt_version} "
                f"({_scale(row)}). Judge all again."
            )
        if row.score is not None and row.scale and not row.scale[0] <= row.score <= row.scale[1]:
            raise DataError(
                f"{side.name}: {row.judge} ({row.metric}) gave question {row.question_id!r} the score "
                f"{row.score:g}, which is not on its scale, {_scale(row)}. Correct the scale, or the score."
            )
        seen.add((row.question_id, key))
    return by_name


def _differing(
    name: tuple[str, str], ours: Mapping[Key, Judgement], theirs: Mapping[Key, Judgement]
) -> list[str]:
    """Return what differs in one judge of the two runs."""
    pair_text = name[0] if name[0] == name[1] else f"{name[0]} ({name[1]})"
    if not ours.keys() & theirs.keys():
        mine, other_models = (", ".join(key[2] for key in side) for side in (ours, theirs))
        return [f"{pair_text} asked {mine} in A and {other_models} in B"]
    problems = []
    for key in ours.keys() & theirs.keys():
        our, other = ours[key], theirs[key]
        if our.prompt_version != other.prompt_version:
            versions = f"version {our.prompt_version} in A and {other.prompt_version} in B"
            problems.append(f"{pair_text} has {versions}")
        if our.scale != other.scale:
            problems.append(f"{pair_text} scores {_scale(our)} in A and {_scale(other)} in B")
    return problems


def _scale(row: Judgement) -> str:
    return scale_text(*row.scale) if row.scale else "on no stated scale"


def _other_files(a: JudgedRun, b: JudgedRun, compared: Collection[str]) -> list[str]:
    """Return the judges whose files differ by their digests: those compared, and members of juries."""
    ours, theirs = a.judges or {}, b.judges or {}
    scored = {_file_of(row.judge) for side in (a, b) for row in side.judgements}
    looked_at = {_file_of(name) for name in compared}
    return [
        f"the file of judge {name} differs, although it may have the same version"
        for name in ours
        if name in theirs and ours[name] != theirs[name] and (name in looked_at or name not in scored)
    ]


def _file_of(judge: str) -> str:
    return judge.removesuffix(JOINT_SUFFIX)


def _only(
    side: JudgedRun, other: JudgedRun, pairs: Iterable[tuple[str, str]], metrics: Collection[str]
) -> list[str]:
    """Return the systems without a counterpart, and the metrics, or models of them, that have none."""
    partner = dict(pairs)
    systems = [name for name in dict.fromkeys(row.system for row in side.judgements) if name not in partner]
    models: dict[tuple[str, str, str], set[str]] = {}
    for row in other.judgements:
        models.setdefault((row.system, row.judge, row.metric), set()).add(row.model)
    lacking: dict[str, None] = {}
    for row in side.judgements:
        if row.system in partner and (not metrics or not {row.judge, row.metric}.isdisjoint(metrics)):
            there = models.get((partner[row.system], row.judge, row.metric), set())
            name = row.judge if row.judge == row.metric else f"{row.judge}: {row.metric}"
            if row.model not in there:
                lacking[f"{name} by {row.model}" if there else name] = None
    return [*(f"system {name}" for name in systems), *lacking]
