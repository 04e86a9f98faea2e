"""`[bench]`: what `ragstone bench` compares.

```toml
[bench.retrievers]
chunkers = [{ method = "whole" }, { method = "recursive", size = 600 }]
retrievers = ["bm25", "dense", "hybrid"]
rerankers = ["none", "openai/gpt-4o-mini"]
k = [5, 10]

[bench.languages]
retrievers = ["bm25", "dense"]

[bench.answerers]
models = ["openai/gpt-4o-mini", "openai/gpt-4o"]
prompts = ["strict", "bare"]

[bench.judges]
sheet = "labelled.jsonl"
judges = ["correctness"]
models = ["openai/gpt-4o-mini", "openai/gpt-4o"]
shots = [0, 2]
```
"""

from typing import Annotated, Literal

import msgspec

from ragstone.kernel.config.retrieval import ChunkSection, Similarity
from ragstone.kernel.config.section import Positive, Section, Temperature

BATCH = 110  # questions whose means are shown together, unless batch_size says otherwise


class RetrieversBench(Section, frozen=True, kw_only=True):
    """The grid of `ragstone bench retrievers`: every combination of these.

    chunkers: default `[chunk]` alone. embedders: default that of `[retrieve]` alone. rerankers: `none`, or
    what `by` of a rerank retriever may be. k: chunks that count; one search at the largest serves all.
    measure: what the leaderboard is ordered by, at the first k. batch_size: questions that follow each other
    in the file and are measured as one batch.
    """

    chunkers: list[ChunkSection] | None = None
    embedders: list[str] | None = None
    retrievers: list[str] = msgspec.field(default_factory=lambda: ["bm25", "dense", "hybrid"])
    rerankers: list[str] = msgspec.field(default_factory=lambda: ["none"])
    k: list[Positive] = msgspec.field(default_factory=lambda: [5, 10])
    measure: str | None = None
    batch_size: Positive = BATCH


class LanguagesBench(Section, frozen=True, kw_only=True):
    """The study of `ragstone bench languages`.

    retrievers: those whose indexes are compared. langs: only these languages, default all that documents
    have. k: chunks that count, and that an answer is made from. prompts, temperatures: every question is
    answered by each prompt at each temperature; default the prompt of the question's kind, at the temperature
    of `[answer]`. similarities: each retriever of kind dense searches by each of these; default its own.
    """

    retrievers: list[str] = msgspec.field(default_factory=lambda: ["bm25", "dense"])
    langs: list[str] | None = None
    k: Positive = 5
    prompts: list[str] = []
    temperatures: list[Temperature] = []
    similarities: list[Similarity] = []


AgreementMeasure = Literal["exact agreement", "difference", "Spearman"]


class JudgesBench(Section, frozen=True, kw_only=True):
    """The grid of `ragstone bench judges`: every combination of judges, models and ways to ask.

    sheet: answers that people have labelled. metric: what the labels speak of; default: what all judges
    measure. judges: names, files, variants by name. models: default that of `[judge]`. scales, shots,
    prompts, temperatures: in which ways each judge is asked; without them as its file says, which is also
    what `own` means. repeats: how often each cell is judged. thresholds: judge -> score from which on it
    says 1, where labels are 0 or 1 and its scale is wider. mapping: label, a number or a word -> its place on
    a judge's scale, 0 the lowest score and 1 the highest; numbers between two are placed on the line between
    them. measure: what cells are ordered by. limit: the first answers only. use_cases: folders of other
    benches of judges: does what this one finds hold there?
    """

    sheet: str | None = None
    metric: str | None = None
    judges: list[str] = []
    models: list[str] = []
    scales: list[str] = []
    shots: list[Annotated[int, msgspec.Meta(ge=0)]] = []
    prompts: list[str] = []
    temperatures: list[Temperature] = []
    repeats: Positive = 1
    thresholds: dict[str, float] = {}
    mapping: dict[str, Annotated[float, msgspec.Meta(ge=0, le=1)]] = {}
    measure: AgreementMeasure | None = None
    limit: Positive | None = None
    use_cases: list[str] = []


Condition = Literal["retrieved", "gold+distractors", "gold", "distractors", "none", "shuffled"]


class AnswerersBench(Section, frozen=True, kw_only=True):
    """The grid of `ragstone bench answerers`: every model with every prompt under every condition.

    models, prompts: default those of `[answer]`. temperatures: at which each model answers; default that of
    `[answer]`. systems: of `[systems]`, beside the grid, asked as they are.
    conditions: what the model is given, see features/bench/answerers. distractors: how many passages of BM25
    stand beside the reference document. tags: by which results are grouped; default all that questions
    have, as far as they have few values. race: questions are given out in rounds, and configurations that
    are worse than the leader beyond doubt stop early. confidence: of the race, that the best one is kept.
    limit: the first questions only. labels: a file of people's labels of these answers, each with its cell as
    `system`; differences are then corrected by them.
    """

    models: list[str] = []
    prompts: list[str] = []
    temperatures: list[Temperature] = []
    systems: list[str] = []
    conditions: list[Condition] = msgspec.field(
        default_factory=lambda: ["retrieved", "gold+distractors", "gold", "none"]
    )
    distractors: Positive = 3
    tags: list[str] | None = None
    race: bool = False
    confidence: Annotated[float, msgspec.Meta(gt=0.5, lt=1)] = 0.95
    limit: Positive | None = None
    labels: str | None = None


class BenchSection(Section, frozen=True, kw_only=True):
    """`[bench]`: one table for each kind of bench."""

    retrievers: RetrieversBench = RetrieversBench()
    languages: LanguagesBench = LanguagesBench()
    judges: JudgesBench = JudgesBench()
    answerers: AnswerersBench = AnswerersBench()
