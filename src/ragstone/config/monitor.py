"""`[monitor]`: how `ragstone watch` samples, judges and raises alarms."""

from typing import Annotated

import msgspec

from ragstone.config.section import Positive, Section

# Each about something else: the question, what it asks for, whether it got an answer, and how good that was.
MONITOR_JUDGES = (
    "prompt_clarity",
    "question_type",
    "answered",
    "faithfulness",
    "relevance",
    "language_match",
    "toxicity",
)


class MonitorSection(Section, frozen=True, kw_only=True):
    """`[monitor]`: what is judged of a log, and when a change is an alarm.

    store: the folder of what was read and judged so far. judges, model: as in `[judge]`; default model its.
    rate: the share of exchanges that is judged. strata: tags by whose values the sample is spread, so that
    rare ones are judged too; at_least: of each value a day. budget_per_day: e.g. `5USD`, `2000calls`; what it
    cuts off is judged on a later day. tags: those by which trends are shown.

    time, question, answer, feedback: columns, where their names are not known; feedback_scale: its lowest and
    its highest value. keep_personal_data: nothing is masked, neither in the store nor in what judges see.

    alpha: the chance of any false alarm, ever. baseline_days: before anything is compared. canaries: how many
    answers are frozen; canary_days: how often they are judged again.

    gap_days: gaps of the documents are looked for in the last so many days; unfaithful_below: an answer whose
    faithfulness is lower counts to one. embedder: gaps are grouped by its vectors; gap_model: names them.
    cards: the file of report cards of the judges, for the page.
    """

    store: str = ".ragstone/monitor"
    judges: list[str] = msgspec.field(default_factory=lambda: list(MONITOR_JUDGES))
    model: str | None = None
    rate: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1.0
    strata: list[str] = []
    at_least: Annotated[int, msgspec.Meta(ge=0)] = 0
    budget_per_day: str | None = None
    tags: list[str] = msgspec.field(
        default_factory=lambda: ["crop", "region", "lang", "model", "prompt_version"]
    )
    time: str | None = None
    question: str | None = None
    answer: str | None = None
    feedback: str | None = None
    feedback_scale: tuple[float, float] = (0.0, 1.0)
    keep_personal_data: bool = False
    alpha: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.05
    baseline_days: Annotated[int, msgspec.Meta(ge=2)] = 14
    canaries: Annotated[int, msgspec.Meta(ge=0)] = 200
    canary_days: Positive = 7
    gap_days: Positive = 28
    unfaithful_below: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    embedder: str | None = None
    gap_model: str | None = None
    cards: str | None = None
