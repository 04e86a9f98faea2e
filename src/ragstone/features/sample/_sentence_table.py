"""What may be said of users' feedback: each sentence with its condition."""

from collections.abc import Callable

from ragstone.features.sample._feedback_answered import CorrectedAnswers
from ragstone.features.sample._feedback_rate import FeedbackShare
from ragstone.features.sample.feedback import FeedbackSummary
from ragstone.kernel.document.numbers import count, percent, percent_range
from ragstone.kernel.errors import plural
from ragstone.kernel.sentences import Sentence


def _of_share(share_of: Callable[[FeedbackSummary], FeedbackShare | None]) -> Callable[..., dict[str, str]]:
    def fills(summary: FeedbackSummary) -> dict[str, str]:
        share = share_of(summary)
        assert share is not None, "the condition says so"
        return {
            "share": percent(share.value),
            "range": percent_range(share.low, share.high),
            "labels": plural(share.n, "labelled answer"),
            "exchanges": plural(summary.rate.n_exchanges if summary.rate else 0, "exchange"),
        }

    return fills


def _down(summary: FeedbackSummary) -> FeedbackShare | None:
    return summary.rate.down_wrong if summary.rate else None


def _up(summary: FeedbackSummary) -> FeedbackShare | None:
    return summary.rate.up_right if summary.rate else None


def _right(summary: FeedbackSummary) -> FeedbackShare | None:
    return summary.rate.right if summary.rate else None


SHARE_NEEDS = {
    "share": "a share of answers, by people's labels",
    "range": "its 95 % interval",
    "labels": "answers that people labelled, ties left out",
}
THUMBS = Sentence[FeedbackSummary](
    code="feedback-thumbs",
    text="Users liked {up} and disliked or corrected {down} of {exchanges} ({share}). They decide "
    "themselves on which they give feedback, so this is not a rate of right answers.",
    when="an exchange that can be labelled has a thumb up or down, or a correction",
    holds=lambda summary: summary.n_up + summary.n_down > 0,
    needs={
        "up": "exchanges with a thumb up and none down",
        "down": "exchanges with a thumb down or a correction",
        "exchanges": "exchanges with an answer and a question that makes sense alone",
        "share": "the share of these with either",
    },
    fills=lambda summary: {
        "up": count(summary.n_up),
        "down": count(summary.n_down),
        "exchanges": plural(summary.n_exchanges, "exchange"),
        "share": percent((summary.n_up + summary.n_down) / summary.n_exchanges),
    },
)
UNCHECKED = Sentence[FeedbackSummary](
    code="feedback-unchecked",
    text="{questions} with users' corrections as references. The log does not say whether anybody has "
    "checked them.",
    when="corrections became questions, and no run with these questions was given",
    holds=lambda summary: summary.n_questions > 0 and not summary.answered,
    needs={"questions": "questions that corrections became"},
    fills=lambda summary: {"questions": plural(summary.n_questions, "question")},
    never_beside=("feedback-answered",),
)
RIGHT = Sentence[FeedbackSummary](
    code="feedback-right",
    text="{share} of {exchanges} have a right answer ({range}), by {labels} weighted by the draw's chances.",
    when="every group of exchanges that the queue was drawn from has a label by people",
    holds=lambda summary: _right(summary) is not None,
    needs=SHARE_NEEDS | {"exchanges": "exchanges that the queue was drawn from"},
    fills=_of_share(_right),
    never_beside=("feedback-no-rate",),
)
NO_RATE = Sentence[FeedbackSummary](
    code="feedback-no-rate",
    text="The share of right answers is unknown: some group of exchanges has no label yet. Label more rows, "
    "from the top of the queue.",
    when="labels were given, but a group of exchanges that the queue was drawn from has none",
    holds=lambda summary: summary.rate is not None and summary.rate.right is None,
    never_beside=("feedback-right",),
)
DOWN_WRONG = Sentence[FeedbackSummary](
    code="feedback-down-wrong",
    text="{share} of the answers that users disliked or corrected are wrong ({range}), by {labels}.",
    when="people labelled an answer that users disliked or corrected",
    holds=lambda summary: _down(summary) is not None,
    needs=SHARE_NEEDS,
    fills=_of_share(_down),
)
UP_RIGHT = Sentence[FeedbackSummary](
    code="feedback-up-right",
    text="{share} of the answers that users liked are right ({range}), by {labels}.",
    when="people labelled an answer that users liked",
    holds=lambda summary: _up(summary) is not None,
    needs=SHARE_NEEDS,
    fills=_of_share(_up),
)
ANSWERED_NEEDS = {
    "system": "the system",
    "run": "the run",
    "right": "answers at or above the middle of the judge's scale",
    "questions": "corrected questions whose answers the judge scored",
    "judge": "the judge",
}


def _answered(answered: CorrectedAnswers) -> dict[str, str]:
    return {
        "system": answered.system,
        "run": answered.run,
        "right": count(answered.right),
        "questions": plural(answered.n, "corrected question"),
        "judge": answered.judge,
        "checked": count(answered.n_checked or 0),
    }


ANSWERED = Sentence[CorrectedAnswers](
    code="feedback-answered",
    text="{system} in {run} answers {right} of {questions} right, by {judge}. A person has checked {checked} "
    "of these corrections.",
    when="the run has its questions, some of them corrected, and its judge of correctness scored answers",
    holds=lambda answered: answered.n > 0 and answered.n_checked is not None,
    needs=ANSWERED_NEEDS | {"checked": "corrections that a person has accepted or edited in a review"},
    fills=_answered,
    never_beside=("feedback-unchecked",),
)
ANSWERED_ALONE = Sentence[CorrectedAnswers](
    code="feedback-answered-alone",
    text="{system} in {run} answers {right} of {questions} right, by {judge}. The run does not hold its "
    "questions, so how many corrections a person has checked is unknown.",
    when="a run without its questions answered corrected ones, and its judge of correctness scored answers",
    holds=lambda answered: answered.n > 0 and answered.n_checked is None,
    needs=ANSWERED_NEEDS,
    fills=_answered,
    never_beside=("feedback-unchecked",),
)
SENTENCES = (THUMBS, UNCHECKED, RIGHT, NO_RATE, DOWN_WRONG, UP_RIGHT, ANSWERED, ANSWERED_ALONE)
