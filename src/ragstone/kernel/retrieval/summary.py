"""How well a retriever does: the means of its measures, over all questions, in groups and in batches."""

import msgspec

from ragstone.kernel.statistics import Estimate
from ragstone.kernel.tables.shown import Displayed

MOST_VALUES = 100  # a tag with more different values tells the questions apart and groups nothing


class GroupMeasures(msgspec.Struct, frozen=True, kw_only=True):
    """The mean measures of one group of questions. n_questions: measured, which the means rest on."""

    n_questions: int
    measures: dict[str, Estimate]


class QuestionBatch(msgspec.Struct, frozen=True, kw_only=True):
    """The mean measures of questions that follow each other in the file.

    name: `OFFSET_COUNT`, as `01600_00110`: questions before it, and its questions. n_questions: those of it
    that were measured, which the means rest on.
    """

    name: str
    n_questions: int
    means: dict[str, float]


class BatchSpread(msgspec.Struct, frozen=True, kw_only=True):
    """How the means of batches are distributed: extremes and quartiles (between values interpolated)."""

    low: float
    first_quartile: float
    median: float
    third_quartile: float
    high: float


class QuestionBatches(msgspec.Struct, frozen=True, kw_only=True):
    """The means of each batch in the order of the file, and how they are distributed.

    size: questions in a batch; the last may have fewer, and does not count for `spread`, nor does a batch
    none of whose questions was measured. n_spread: batches that do. spread: measure -> distribution; empty
    with fewer than two such batches.
    """

    size: int
    batches: list[QuestionBatch]
    n_spread: int
    spread: dict[str, BatchSpread]


class ScoreBin(msgspec.Struct, frozen=True, kw_only=True):
    """Passages of neighbouring scores, low and high included, and the share of them that is relevant."""

    low: float
    high: float
    relevant: Estimate


class ScoreCutoff(msgspec.Struct, frozen=True, kw_only=True):
    """What it would mean to keep only passages with at least this score, on the questions it was chosen by.

    recall: share of the relevant passages that stay; precision: share of those that stay that is relevant,
    precision_before: of all. dropped: passages a question, of `passages`. n_emptied: questions that keep
    none; n_lost: that had a relevant passage and keep none such.
    """

    score: float
    recall: Estimate
    precision: Estimate
    precision_before: Estimate
    dropped: Estimate
    passages: float
    n_emptied: int
    n_lost: int


class ScoreQuality(msgspec.Struct, frozen=True, kw_only=True):
    """How far scores tell relevant passages from others.

    auc: how often a relevant passage has the higher score than another one, of any question; equal ones count
    half. None where that is undefined. why: why it cannot be told; empty where the interval lies above 0.5.
    bins: the calibration curve, lowest scores first. cutoff: None where scores tell nothing, or none drops
    anything.
    """

    n_questions: int
    n_passages: int
    n_relevant: int
    auc: Estimate | None
    why: str = ""
    bins: list[ScoreBin] = []
    cutoff: ScoreCutoff | None = None


class RetrievalSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """How well one retriever does, and on how many questions.

    n_questions: measured, which every mean rests on, but those by characters (`span_recall@k`,
    `span_precision@k`) and those of multi-hop questions (`all_hops@k`, `first_hop@k`, `last_hop@k`), which
    have their own n. Left out and counted: n_unlabelled (no relevant document
    named), n_unanswerable (`answerable` is false: no document can be right), n_unranked (no ranking), and
    n_unplaced (measured, but not by characters; see QueryMeasures). n_tied: questions whose order is in part
    a matter of chance (see there too). rank_histogram: "1", "2", ... and "absent" -> questions whose first
    relevant document stands there. by_lang: language -> its questions. by_tag: tag -> value -> its questions.
    batches: in file order; scores: whether they tell what is relevant; both None in summaries of older
    versions. index_s, search_s: seconds that it took to
    index the corpus and to search all questions, where they were measured.
    """

    retriever: str
    depth: int
    n_questions: int
    n_unlabelled: int
    n_unanswerable: int
    n_unranked: int
    measures: dict[str, Estimate]
    rank_histogram: dict[str, int]
    n_tied: int = 0
    n_unplaced: int = 0
    by_lang: dict[str, GroupMeasures] = {}
    by_tag: dict[str, dict[str, GroupMeasures]] = {}
    batches: QuestionBatches | None = None
    scores: ScoreQuality | None = None
    index_s: float | None = None
    search_s: float | None = None
