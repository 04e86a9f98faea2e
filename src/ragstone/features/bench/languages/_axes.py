"""What a study of languages varies beside the index: similarity, prompt, temperature; and what it changes."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragstone.features.bench._running import load_prompts
from ragstone.features.bench.languages._values import Axis, AxisVerdict
from ragstone.features.bench.languages._verdicts import measured_values
from ragstone.features.bench.retrievers.paired import compare_rankings
from ragstone.kernel.config import DenseSettings, RetrieverSettings, Settings, choose
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Question
from ragstone.kernel.retrieval.evaluate import mean_measures
from ragstone.kernel.retrieval.relevance import relevant_documents
from ragstone.kernel.retrieval.search import RETRIEVERS
from ragstone.kernel.systems.prompting import load_prompt


def study_prompts(settings: Settings) -> dict[str | None, str | None]:
    """Return the prompts to answer with: what each is called -> how the settings name it.

    None: that of the question's kind. Raises ConfigError for an unknown prompt, and for two of one name.
    """
    declared = settings.bench.languages.prompts
    if not declared:
        load_prompt(settings.named(settings.answer.prompt))
        return {None: None}
    prompts = load_prompts(settings, declared, "[bench.languages] prompts")
    return {prompt.name: name for name, prompt in prompts.items()}


BY = " by "  # between a retriever and its similarity, in its name


def with_similarities(settings: Settings) -> Settings:
    """Return the settings with each dense retriever of the study once for each similarity: `dense by dot`.

    Raises ConfigError where none of them compares vectors.
    """
    study = settings.bench.languages
    if not study.similarities:
        return settings
    known: Mapping[str, RetrieverSettings] = {**RETRIEVERS, **settings.retrievers}
    declared = {
        f"{name}{BY}{similarity}": msgspec.structs.replace(dense, similarity=similarity)
        for name in study.retrievers
        if isinstance(dense := known.get(name), DenseSettings)
        for similarity in study.similarities
    }
    if not declared:
        raise ConfigError(
            "[bench.languages] similarities: none of the retrievers is of kind dense, and no other compares "
            "vectors. Name one, such as `dense`, or leave out similarities."
        )
    names = [
        each
        for name in dict.fromkeys(study.retrievers)
        for each in ([variant for variant in declared if variant.rpartition(BY)[0] == name] or [name])
    ]
    chosen = choose(settings, "bench", languages=msgspec.structs.replace(study, retrievers=names))
    return msgspec.structs.replace(chosen, retrievers={**settings.retrievers, **declared})


def similarity_of(retriever: str, settings: Settings) -> dict[Axis, str]:
    """Return the similarity that a retriever of with_similarities searches by, as an axis; of others none."""
    name, _, similarity = retriever.rpartition(BY)
    return {"similarity": similarity} if name and similarity in settings.bench.languages.similarities else {}


def shared_of(questions: Iterable[Question], same: Mapping[str, str]) -> dict[str, str]:
    """Return question id -> the document that questions which are not independent share."""
    return {q.id: min(same.get(name, name) for name in relevant_documents(q) or [q.id]) for q in questions}


AxisCell = tuple[Mapping[Axis, str], Mapping[str, float]]
"""Axis -> value, and question id -> what was measured there."""


def axis_verdicts(
    cells: Sequence[AxisCell], shared: Mapping[str, str], measure: str, *, seed: int = 0
) -> list[AxisVerdict]:
    """Return each further value of each axis against the first one, by a measure of the same questions.

    A question counts by its mean over the cells that have the value; only questions that all cells of the
    axis have count. shared: see shared_of. Not corrected for their number yet.
    """
    verdicts: list[AxisVerdict] = []
    for axis in dict.fromkeys(axis for axes, _ in cells for axis in axes):
        by_value: dict[str, list[Mapping[str, float]]] = {}
        for axes, values in cells:
            if axis in axes:
                by_value.setdefault(axes[axis], []).append(values)
        every = [values for some in by_value.values() for values in some]
        names = [name for name in every[0] if all(name in values for values in every)]
        if len(by_value) < 2 or not names:
            continue
        means = {
            value: {name: sum(values[name] for values in some) / len(some) for name in names}
            for value, some in by_value.items()
        }
        queries = measured_values(means, shared, measure)
        estimates = {
            value: mean_measures(measured, seed=seed).measures[measure] for value, measured in queries.items()
        }
        against = next(iter(by_value))
        verdicts += [
            AxisVerdict(
                axis=axis,
                value=comparison.first,
                against=against,
                mean=estimates[comparison.first],
                baseline=estimates[against],
                comparison=comparison,
            )
            for comparison in compare_rankings(queries, measure, against=against, seed=seed)
        ]
    return verdicts
