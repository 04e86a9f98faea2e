"""What a report may say first of a run: each sentence with its condition."""

from collections.abc import Sequence

import msgspec

from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.known_cards import card_of, is_useless
from ragstone.kernel.document.numbers import count, percent
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.breakdown import FoundAndRight
from ragstone.kernel.runs.headlines import headlines
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.runs.wording import doubt
from ragstone.kernel.sentences import Sentence
from ragstone.kernel.statistics import wilson_interval


class HeadlineJudge(msgspec.Struct, frozen=True):
    """A mean that leads a report, and what is known of the judge behind it."""

    metric: MetricSummary
    summary: RunSummary

    @property
    def card(self) -> ReportCard | None:
        """Its report card; None where nobody has compared it with people."""
        return card_of(self.metric, self.summary.cards)

    @property
    def free(self) -> bool:
        """Whether it asks no language model."""
        return self.metric.model == NO_MODEL

    @property
    def replaced(self) -> Sequence[str]:
        """The judges of the same metric that ask a model and are no better than their baseline."""
        return [
            other.judge
            for other in self.summary.metrics
            if other.metric == self.metric.metric
            and other.model != NO_MODEL
            and is_useless(other, self.summary.cards)
        ]


HEADLINES = ("baseline-leads", "judge-unmeasured", "judge-doubtful", "judge-measured")


BASELINE_LEADS = Sentence[HeadlineJudge](
    code="baseline-leads",
    text="{judge} calls no language model: it is a baseline, not a verdict.",
    when="the leading mean is from a judge that calls no language model",
    holds=lambda lead: lead.free,
    needs={"judge": "the judge"},
    fills=lambda lead: {"judge": lead.metric.judge},
)
BASELINE_REPLACES = Sentence[HeadlineJudge](
    code="baseline-replaces",
    text="It replaces {judge}, which is no better than its baseline.",
    when="as baseline-leads, and the card of a judge of the same metric that asks a model says no-better",
    holds=lambda lead: lead.free and bool(lead.replaced),
    needs={"judge": "the judge that is no better than its baseline"},
    fills=lambda lead: {"judge": lead.replaced[0]},
    never_beside=("judge-measured",),
)
JUDGE_UNMEASURED = Sentence[HeadlineJudge](
    code="judge-unmeasured",
    text="Judged by {model}, which nobody has compared with people on this task.",
    when="the leading mean is from a judge that calls a model and has no card in this run",
    holds=lambda lead: not lead.free and lead.card is None,
    needs={"model": "the model"},
    fills=lambda lead: {"model": lead.metric.model},
)
JUDGE_DOUBTFUL = Sentence[HeadlineJudge](
    code="judge-doubtful",
    text="Judged by {model}, which is {doubt} here: do not rely on it alone.",
    when="its card does not show it to be better than each baseline",
    holds=lambda lead: not lead.free and lead.card is not None and doubt(lead.card) is not None,
    needs={"model": "the model", "doubt": "what its card says against it"},
    fills=lambda lead: {
        "model": lead.metric.model,
        "doubt": (doubt(lead.card) if lead.card else None) or "",
    },
)
JUDGE_MEASURED = Sentence[HeadlineJudge](
    code="judge-measured",
    text="Judged by {model}; its agreement with people is below.",
    when="its card shows it to be better than each baseline",
    holds=lambda lead: not lead.free and lead.card is not None and doubt(lead.card) is None,
    needs={"model": "the model"},
    fills=lambda lead: {"model": lead.metric.model},
)
LEADING = (BASELINE_LEADS, JUDGE_UNMEASURED, JUDGE_DOUBTFUL, JUDGE_MEASURED)


class CountedAnswers(msgspec.Struct, frozen=True):
    """A system's answers by found and right, and why its judge's low scores are no verdict (None: they are).

    several: whether the run has more systems, so that this one is named.
    """

    row: FoundAndRight
    several: bool
    weak: str | None

    @property
    def n(self) -> int:
        """All that are counted."""
        return self.row.found_right + self.row.missed_right + self.n_wrong

    @property
    def n_wrong(self) -> int:
        """Answers below the middle of the judge's scale."""
        return self.row.found_wrong + self.row.missed_wrong


def counted_answers(row: FoundAndRight, several: bool, cards: Sequence[ReportCard]) -> CountedAnswers:
    """Return what is known of a system's answers and of the judge that called them right or wrong."""
    key = (row.judge, row.metric, row.model)
    card = next((card for card in cards if (card.judge, card.metric, card.model) == key), None)
    against = doubt(card) if card else None
    weak = "a baseline without a language model" if row.model == NO_MODEL else against
    return CountedAnswers(row, several, weak)


def _counts(counted: CountedAnswers) -> dict[str, str]:
    row, n = counted.row, counted.n
    return {
        "whose": f"{row.system}: of" if counted.several else "Of",
        "counted": plural(n, "answer"),
        "wrong": plural(counted.n_wrong, "wrong answer"),
        "low": plural(counted.n_wrong, "answer"),
        "judge": row.judge,
        "found": count(row.found_wrong),
        "missed": count(row.missed_wrong),
        "upper": percent(wilson_interval(counted.n_wrong, n)[1]) if n else "100 %",
        "weak": counted.weak or "",
    }


WHOSE = {"whose": "the system, where there are several", "judge": "the judge"}
SPLIT = {
    "found": "those with a relevant document among their contexts",
    "missed": "those without one",
}
NONE_WRONG = Sentence[CountedAnswers](
    code="none-wrong",
    text="{whose} {counted} counted, {judge} found none wrong; up to {upper} wrong cannot be excluded.",
    when="a judge that asks a model, and whose card (if any) shows it to be better than its baselines, "
    "scores no counted answer below the middle of its scale",
    holds=lambda counted: counted.n > 0 and counted.weak is None and counted.n_wrong == 0,
    needs={
        "counted": "answers whose contexts are known",
        "upper": "upper end of Wilson's 95 % interval for 0 of that many, in percent",
        **WHOSE,
    },
    fills=_counts,
)
NONE_LOW = Sentence[CountedAnswers](
    code="none-scored-low",
    text="{whose} {counted} counted, {judge} scores none below the middle of its scale; it is {weak}, so "
    "this does not say that none is wrong.",
    when="a judge that calls no model, or whose card does not show it to be better than its baselines, "
    "scores no counted answer below the middle of its scale",
    holds=lambda counted: counted.n > 0 and counted.weak is not None and counted.n_wrong == 0,
    needs={
        "counted": "answers whose contexts are known",
        "weak": "why its scores are no verdict",
        **WHOSE,
    },
    fills=_counts,
)
WRONG_SPLIT = Sentence[CountedAnswers](
    code="wrong-found-or-missed",
    text="{whose} {wrong}, {found} had a relevant document among the contexts (the prompt or the model is "
    "to blame) and {missed} had none (the retriever).",
    when="a judge as for none-wrong scores at least one counted answer below the middle of its scale",
    holds=lambda counted: counted.weak is None and counted.n_wrong > 0,
    needs={"wrong": "answers below the middle of the scale", **SPLIT, "whose": WHOSE["whose"]},
    fills=_counts,
)
LOW_SPLIT = Sentence[CountedAnswers](
    code="low-found-or-missed",
    text="{whose} {low} that {judge} scores below the middle of its scale, {found} had a relevant document "
    "among the contexts and {missed} had none; it is {weak}, so read them before you blame anything.",
    when="a judge as for none-scored-low scores at least one counted answer below the middle of its scale",
    holds=lambda counted: counted.weak is not None and counted.n_wrong > 0,
    needs={
        "low": "answers below the middle of the scale",
        "weak": "why its scores are no verdict",
        **SPLIT,
        **WHOSE,
    },
    fills=_counts,
)
BLAMED = (NONE_WRONG, NONE_LOW, WRONG_SPLIT, LOW_SPLIT)
BLAME_UNKNOWN_NOT = tuple(sentence.code for sentence in BLAMED)

NO_JUDGEMENT = Sentence[RunSummary](
    code="no-judgement",
    text="No judge has judged the answers.",
    when="the run has no judgement of an answer's correctness or a similar metric",
    holds=lambda summary: not headlines(summary),
    never_beside=(*HEADLINES, "baseline-replaces"),
)


def _is_blame_unknown(summary: RunSummary) -> bool:
    return not summary.blame and not any(row.measures for row in summary.retrieval)


def _is_none_answerable(summary: RunSummary) -> bool:
    """Whether rankings were left out because their questions are unanswerable, and for no other reason."""
    rows = summary.retrieval
    others = sum(row.n_questions + row.n_unlabelled + row.n_unranked for row in rows)
    return bool(rows) and not others and all(row.n_unanswerable for row in rows)


BLAME_UNANSWERABLE = Sentence[RunSummary](
    code="blame-unanswerable",
    text="No question is answerable, so there is no document to find.",
    when="as for blame-unknown, but every question is unanswerable",
    holds=lambda summary: _is_blame_unknown(summary) and _is_none_answerable(summary),
    never_beside=("blame-unknown", *BLAME_UNKNOWN_NOT),
)
BLAME_UNKNOWN = Sentence[RunSummary](
    code="blame-unknown",
    text="The questions do not name the documents that hold their answers, or there are no rankings and "
    "no contexts. Add document_ids to questions.jsonl, and rankings, or contexts to the answers.",
    when="no retriever was measured, and answers cannot be split by what their contexts hold",
    holds=_is_blame_unknown,
    never_beside=BLAME_UNKNOWN_NOT,
)
BASELINES_NOT_COMPARED = Sentence[RunSummary](
    code="baselines-not-compared",
    text="No language model judged, and the baselines were not compared with people.",
    when="no card, and every mean is of a judge that calls no model",
    holds=lambda summary: not summary.cards and all(metric.model == NO_MODEL for metric in summary.metrics),
    never_beside=("judge-measured", "judge-doubtful", "no-labels"),
)


def _where(summary: RunSummary) -> dict[str, str]:
    judged = "RUN" if summary.counts.keys() - {"judgements"} else "judgements.jsonl"
    return {
        "judged": judged,
        "where": ", with the folder of this run as RUN" if judged == "RUN" else "",
    }


NO_LABELS = Sentence[RunSummary](
    code="no-labels",
    text="There are no labels by people. Label some answers, then run "
    "`ragstone agree {judged} labels.jsonl`{where}.",
    when="no card, and a judge that asks a model has a mean",
    holds=lambda summary: not summary.cards and any(metric.model != NO_MODEL for metric in summary.metrics),
    needs={"judged": "what to give to `agree`", "where": "what that is"},
    fills=_where,
    never_beside=("judge-measured", "judge-doubtful", "baselines-not-compared"),
)
SENTENCES = (
    *LEADING,
    BASELINE_REPLACES,
    *BLAMED,
    NO_JUDGEMENT,
    BLAME_UNANSWERABLE,
    BLAME_UNKNOWN,
    BASELINES_NOT_COMPARED,
    NO_LABELS,
)
