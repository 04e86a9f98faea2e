"""What a bench of retrievers found, as values: configurations, standings, and where they differ."""

import msgspec

from ragstone.features.bench.retrievers.paired import PairedComparison
from ragstone.kernel.config import ChunkSection
from ragstone.kernel.retrieval.summary import GroupMeasures, ScoreQuality
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.paired import BoardPlace
from ragstone.kernel.statistics.ranks import RankShares


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """One way to search: how documents are cut, and what searches them.

    name: what tells it from the others of its grid. embedder: None where the retriever embeds nothing, or
    names its own. reranker: None where the retriever's own order stays.
    """

    name: str
    chunker: ChunkSection
    retriever: str
    embedder: str | None = None
    reranker: str | None = None


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """How long a configuration took on this machine: the one part of a leaderboard that is never the same.

    index_s: from chunks to ready, with the indexes that it is made from; n_embedded: texts that were
    embedded in that time, n_cached: texts whose vectors were in the store. p50_s, p95_s: of n_timed
    questions asked one by one, their embedding, that of a shortlist's passages and the recorded time of model
    calls included.
    questions_per_s: all questions at once, with their vectors at hand; None where a model is asked, for the
    ledger would answer.
    """

    index_s: float
    n_embedded: int
    n_cached: int
    p50_s: float
    p95_s: float
    n_timed: int
    questions_per_s: float | None


class FailedConfiguration(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration without numbers, and why."""

    configuration: Configuration
    reason: str


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration's place.

    verdict: `worse` only where the difference from the best is shown; `comparison` is that of the best
    with this one, None for the best itself. measures: k -> measure -> mean over the questions, each at this
    k. by_lang, by_tag: the leaderboard's measure in groups of the questions. rankings: the file of them.
    n_tied: questions whose order is in part a matter of chance (see QueryMeasures). scores: whether they tell
    what is relevant, among the first k; None in files of older versions. batches: `OFFSET_COUNT` -> the
    measures, at the first k, of these questions, in file order; empty where there are fewer than two.
    """

    place: int
    configuration: Configuration
    verdict: BoardPlace
    comparison: PairedComparison | None
    measures: dict[str, dict[str, Estimate]]
    by_lang: dict[str, Estimate]
    by_tag: dict[str, dict[str, Estimate]]
    timing: Timing
    rankings: str
    n_tied: int
    scores: ScoreQuality | None = None
    batches: dict[str, GroupMeasures] = {}


class FoundByConfiguration(msgspec.Struct, frozen=True, kw_only=True):
    """What one configuration found for a question.

    value: the leaderboard's measure. rank: place of the first relevant document among the documents, None
    where it is absent. first: the document in the first place, None for an empty ranking.
    """

    name: str
    value: float
    rank: int | None
    first: str | None


class Differing(msgspec.Struct, frozen=True, kw_only=True):
    """A question on which the configurations differ. spread: standard deviation of their values."""

    question_id: str
    question: str
    lang: str | None
    relevant: list[str]
    spread: float
    found: list[FoundByConfiguration]


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True):
    """The grid in order of one measure at the first k, on the same questions for all.

    measure: e.g. `ndcg@5`. why: what decided for this measure. n_questions: that all were measured on;
    left out and counted are n_unlabelled, n_unanswerable, and n_left_out, which some configuration has no
    value for. family: the comparisons that Holm's correction is over, those of every pair. differing: the
    questions on which configurations differ most, the largest spread first. ranks: how often each
    configuration has each rank, on the questions that all were measured on; absent of one configuration.
    """

    measure: str
    why: str
    ks: list[int]
    n_questions: int
    n_unlabelled: int
    n_unanswerable: int
    n_left_out: int
    family: int
    standings: list[Standing]
    failed: list[FailedConfiguration]
    differing: list[Differing]
    ranks: RankShares | msgspec.UnsetType = msgspec.UNSET
