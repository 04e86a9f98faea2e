"""The values of every cell in groups of questions: by language and by each tag."""

from collections.abc import Callable, Mapping, Sequence

from ragstone.errors import ConfigError, nearest
from ragstone.experiments.answer_board import TagGroup, TagTable
from ragstone.experiments.answer_values import CellValues, means_of
from ragstone.experiments.groups import FEWEST
from ragstone.records import Question
from ragstone.retrieval.grouping import MOST_VALUES
from ragstone.statistics import Estimate

LANG = "lang"
MOST_SHOWN = 20  # values of a tag; further ones, the smallest, stand together

Read = Callable[[Question], str | None]


def tag_tables(
    cells: Sequence[CellValues],
    questions: Sequence[Question],
    tags: Sequence[str] | None,
    clusters: Mapping[str, str],
    *,
    seed: int,
    proportion: bool,
) -> list[TagTable]:
    """Return the means in groups by `lang` and every tag; tags: these alone, in their order.

    Groups with fewer than FEWEST questions, and those beyond MOST_SHOWN, stand together. Without `tags`, one
    that has more than MOST_VALUES values, none of FEWEST questions, or all questions in one is left out.
    Raises what chosen_tags raises.
    """
    tables = []
    for tag in chosen_tags(questions, tags):
        read = _reader(tag)
        members: dict[str, list[str]] = {}
        for question in questions:
            value = read(question)
            if value is not None:
                members.setdefault(value, []).append(question.id)
        n_with = sum(map(len, members.values()))
        one = len(members) == 1 and n_with == len(questions)
        small = all(len(ids) < FEWEST for ids in members.values())
        if tags is None and (one or small or len(members) > MOST_VALUES):
            continue
        groups = [
            TagGroup(
                value=value,
                n_values=n_values,
                n_questions=len(ids),
                cells=_means(cells, set(ids), clusters, seed, proportion=proportion),
            )
            for value, n_values, ids in _folded(members)
        ]
        tables.append(TagTable(tag=tag, groups=groups, n_without=len(questions) - n_with))
    return tables


def chosen_tags(questions: Sequence[Question], tags: Sequence[str] | None) -> Sequence[str]:
    """Return the tags to group by: `tags`, else all. Raises ConfigError for one that no question has."""
    known = _known(questions)
    for tag in tags or ():
        if tag not in known:
            raise ConfigError(
                f"[bench.answerers] tags: no question has the tag {tag!r}. "
                + (nearest(tag, known) if known else "The questions have none.")
            )
    return known if tags is None else tags


def _known(questions: Sequence[Question]) -> list[str]:
    tags = sorted({tag for question in questions for tag in question.tags or ()})
    return ([LANG] if any(question.lang for question in questions) else []) + [
        tag for tag in tags if tag != LANG
    ]


def _reader(tag: str) -> Read:
    """Return what reads a tag; the language of a question goes before a tag of that name."""
    if tag == LANG:
        return lambda question: question.lang or (question.tags or {}).get(LANG)
    return lambda question: (question.tags or {}).get(tag)


def _folded(members: Mapping[str, list[str]]) -> list[tuple[str | None, int, list[str]]]:
    """Return (value, number of values, questions): large groups first, then the small ones together."""
    ordered = sorted(members, key=lambda value: (-len(members[value]), value))
    shown = [value for value in ordered if len(members[value]) >= FEWEST][:MOST_SHOWN]
    rest = [value for value in ordered if value not in shown]
    groups: list[tuple[str | None, int, list[str]]] = [(value, 1, members[value]) for value in shown]
    if rest:
        groups.append((None, len(rest), [name for value in rest for name in members[value]]))
    return groups


def _means(
    cells: Sequence[CellValues], ids: set[str], clusters: Mapping[str, str], seed: int, *, proportion: bool
) -> dict[str, dict[str, Estimate]]:
    """Return cell -> `score` and each measure of one group, those that have values there."""
    scores = {cell.cell.name: _of(cell.score, ids) for cell in cells}
    measures = {
        (cell.cell.name, name): _of(values, ids) for cell in cells for name, values in cell.measures.items()
    }
    found: dict[str, dict[str, Estimate]] = {cell.cell.name: {} for cell in cells}
    for cell_name, mean in means_of(scores, clusters, seed=seed, proportion=proportion).items():
        found[cell_name]["score"] = mean
    for (cell_name, name), mean in means_of(measures, clusters, seed=seed).items():
        found[cell_name][name] = mean
    return found


def _of(values: Mapping[str, float], ids: set[str]) -> dict[str, float]:
    return {name: value for name, value in values.items() if name in ids}
