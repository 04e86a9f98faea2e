"""What may be said of failure modes: each sentence with its condition."""

from ragstone.features.modes.values import ModesSummary
from ragstone.kernel.document.numbers import count, percent, percent_range
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.modes import Mode, ModeShare
from ragstone.kernel.sentences import Sentence

FEW_WRONG = 20
"""Wrong answers below which it is said that they are few."""


def interval_text(share: ModeShare | None) -> str:
    """Return an interval as `4 to 11 %`; empty without one."""
    return percent_range(share.low, share.high) if share else ""


def _of_mode(mode: Mode) -> dict[str, str]:
    prevalence, precision = mode.prevalence, mode.precision
    return {
        "share": percent(prevalence.value) if prevalence else "",
        "range": interval_text(prevalence),
        "true": count(mode.n_true),
        "looked": count(mode.n_looked_at),
        "are": "is" if mode.n_looked_at == 1 else "are",
        "precision": percent(precision.value) if precision else "",
        "labels": plural(mode.n_labelled, "label"),
        "yes": count(mode.n_yes),
        "asked": plural(mode.n_asked, "answer"),
        "wrong": count(mode.n_wrong),
    }


# A text on several modes says several of these, so none is forbidden beside another: of one mode, their
# conditions exclude each other.
MODE_NEEDS = {
    "share": "share of the run's answers that have the mode, by labels weighed by their chances",
    "range": "its 95 % interval",
    "true": "answers that have it by its judge and by people",
    "looked": "labelled answers that have it by its judge",
    "are": "is or are",
    "labels": "labelled answers",
    "yes": "answers that have it by its judge",
    "asked": "answers that its judge scored",
    "wrong": "those that have it and are wrong by the judge of the run",
}


def _needs(*names: str) -> dict[str, str]:
    return {name: MODE_NEEDS[name] for name in names}


CHECKED = Sentence[Mode](
    code="mode-checked",
    text="{share} of answers ({range}); {true} of {looked} looked at {are} true.",
    when="people's labels of its question cover every group of answers that has any, and at least one is of "
    "an answer that its judge names",
    holds=lambda mode: mode.checked and mode.n_looked_at > 0,
    needs=_needs("share", "range", "true", "looked", "are"),
    fills=_of_mode,
)
CHECKED_BLIND = Sentence[Mode](
    code="mode-checked-without-its-judge",
    text="{share} of answers ({range}), by {labels}; none of them is of an answer that its judge names.",
    when="people's labels of its question say how many answers have it, and none is of an answer that its "
    "judge names",
    holds=lambda mode: mode.checked and mode.n_looked_at == 0,
    needs=_needs("share", "range", "labels"),
    fills=_of_mode,
)
PARTLY = Sentence[Mode](
    code="mode-partly-checked",
    text="not checked yet: {true} of {looked} looked at {are} true, but too few other answers are labelled "
    "to say how many have it.",
    when="at least one label is of an answer that its judge names, and in some group of answers no label is",
    holds=lambda mode: not mode.checked and mode.n_looked_at > 0,
    needs=_needs("true", "looked", "are"),
    fills=_of_mode,
)
NOT_ASKED = Sentence[Mode](
    code="mode-not-asked",
    text="not checked, and not asked: its question needs a model (--model) or people (--queue).",
    when="its judge scored no answer, and no label says how many answers have it",
    holds=lambda mode: not mode.checked and not mode.n_asked,
)
NOT_CHECKED = Sentence[Mode](
    code="mode-not-checked",
    text="not checked; its judge names {yes} of {asked}, {wrong} of them wrong.",
    when="its judge scored answers, and no label is of an answer that its judge names",
    holds=lambda mode: not mode.checked and mode.n_asked > 0 and mode.n_looked_at == 0,
    needs=_needs("yes", "asked", "wrong"),
    fills=_of_mode,
)


def _of_run(summary: ModesSummary) -> dict[str, str]:
    proposal = summary.proposal
    return {
        "judge": summary.judge,
        "answers": plural(summary.n_answers, "answer"),
        "wrong": count(summary.n_wrong),
        "are": "is" if summary.n_wrong == 1 else "are",
        "tested": plural(proposal.n_tested, "candidate") if proposal else "",
        "was": "was" if proposal and proposal.n_tested == 1 else "were",
        "uncovered": count(summary.n_uncovered),
        "read": count(proposal.n_read) if proposal else "",
        "left": plural(summary.n_left_out, "answer"),
        "unanswerable": count(summary.n_unanswerable),
        "dropped": plural(proposal.n_dropped, "mode") if proposal else "",
        "quotes": plural(proposal.n_quotes, "quote") if proposal else "",
        "lost": count(proposal.n_quotes - proposal.n_held) if proposal else "",
        "failed": plural(proposal.n_failed, "call") if proposal else "",
        "people": plural(proposal.n_of_people, "mode") if proposal else "",
        "known": plural(proposal.n_known, "candidate") if proposal else "",
        "have": "has" if proposal and proposal.n_known == 1 else "have",
        "grouped": count(proposal.n_grouped) if proposal else "",
        "notes": plural(proposal.n_notes, "note") if proposal else "",
    }


RUN_NEEDS = {
    "judge": "the judge whose verdicts say what is wrong",
    "answers": "answers that it scored",
    "wrong": "those below the middle of its scale (above, where its lowest score is the good one)",
    "are": "is or are",
    "tested": "candidates that were tested on answers they were not proposed from",
    "was": "was or were",
    "uncovered": "wrong answers that no mode's judge names",
    "read": "answers of a random sample",
    "left": "answers without a score of that judge",
    "unanswerable": "answers that it scored, to questions that the documents do not answer",
    "dropped": "modes of the model that quote fewer than two rows truly",
    "quotes": "what the model quoted",
    "lost": "quotes that are not in their row",
    "failed": "calls to the model that failed",
    "people": "modes from people's notes",
    "known": "candidates that are confirmed and name the answers of a mode that has a file",
    "have": "has or have",
    "grouped": "notes without a tag that the model put into a mode",
    "notes": "notes without a tag that it was shown",
}


def _run_needs(*names: str) -> dict[str, str]:
    return {name: RUN_NEEDS[name] for name in names}


def _has_both(summary: ModesSummary) -> bool:
    return 0 < summary.n_wrong < summary.n_answers


NONE_WRONG = Sentence[ModesSummary](
    code="modes-none-wrong",
    text="No answer is wrong by {judge} ({answers}), so there is nothing to explain.",
    when="the judge scored answers, and none is wrong",
    holds=lambda summary: summary.n_wrong == 0,
    needs=_run_needs("answers", "judge"),
    fills=_of_run,
    never_beside=("modes-all-wrong", "modes-none-confirmed", "modes-uncovered", "modes-few-wrong"),
)
ALL_WRONG = Sentence[ModesSummary](
    code="modes-all-wrong",
    text="Every answer is wrong by {judge} ({answers}), so nothing sets wrong answers apart. Label some: "
    "`ragstone agree` says whether the judge is right.",
    when="the judge scored answers, and every one is wrong",
    holds=lambda summary: 0 < summary.n_answers == summary.n_wrong,
    needs=_run_needs("answers", "judge"),
    fills=_of_run,
    never_beside=("modes-none-wrong", "modes-none-confirmed", "modes-few-wrong"),
)
NONE_CONFIRMED = Sentence[ModesSummary](
    code="modes-none-confirmed",
    text="No new mode is confirmed: {tested} {was} tested on other answers. The failures may still have "
    "something in common.",
    when="some answers are wrong and some right, modes were proposed by this command, candidates were "
    "tested, and none was named, nor confirmed as one that has a file",
    holds=lambda summary: (
        _has_both(summary)
        and bool(
            summary.proposal
            and summary.proposal.n_tested
            and not summary.proposal.n_named
            and not summary.proposal.n_known
        )
    ),
    needs=_run_needs("tested", "was"),
    fills=_of_run,
    never_beside=("modes-none-wrong", "modes-all-wrong", "modes-no-candidate"),
)
NO_CANDIDATE = Sentence[ModesSummary](
    code="modes-no-candidate",
    text="No new mode is confirmed: nothing that was looked at is clearly more frequent among wrong answers. "
    "The failures may still have something in common.",
    when="some answers are wrong and some right, modes were proposed by this command, and no candidate was "
    "worth a test",
    holds=lambda summary: _has_both(summary) and bool(summary.proposal and not summary.proposal.n_tested),
    never_beside=("modes-none-wrong", "modes-all-wrong", "modes-none-confirmed"),
)
WRONG = Sentence[ModesSummary](
    code="modes-wrong",
    text="{wrong} of {answers} {are} wrong by {judge}.",
    when="some answers are wrong and some right, and a mode was named or found again, or none was proposed "
    "by this command",
    holds=_has_both,
    needs=_run_needs("wrong", "answers", "are", "judge"),
    fills=_of_run,
    never_beside=("modes-none-wrong", "modes-all-wrong", "modes-none-confirmed", "modes-no-candidate"),
)
FEW = Sentence[ModesSummary](
    code="modes-few-wrong",
    text="Only {wrong} of {answers} {are} wrong, so a mode of few of them may be there and not be confirmed.",
    when="modes were proposed by this command, and fewer than 20 answers are wrong, but not all",
    holds=lambda summary: summary.proposal is not None and _has_both(summary) and summary.n_wrong < FEW_WRONG,
    needs=_run_needs("wrong", "answers", "are"),
    fills=_of_run,
    never_beside=("modes-none-wrong", "modes-all-wrong"),
)
UNCOVERED = Sentence[ModesSummary](
    code="modes-uncovered",
    text="No mode's judge names {uncovered} of {wrong} wrong answers.",
    when="there are modes whose judges scored answers, and at least one wrong answer is named by none",
    holds=lambda summary: summary.n_uncovered > 0 and any(mode.n_asked for mode in summary.modes),
    needs=_run_needs("uncovered", "wrong"),
    fills=_of_run,
    never_beside=("modes-none-wrong",),
)
SAMPLE = Sentence[ModesSummary](
    code="modes-proposed-from-a-sample",
    text="Signs were looked for in a random sample of {read} of {answers}; the modes are counted in all.",
    when="modes were proposed by this command from fewer answers than the judge scored",
    holds=lambda summary: bool(summary.proposal and 0 < summary.proposal.n_read < summary.n_answers),
    needs=_run_needs("read", "answers"),
    fills=_of_run,
)
LEFT_OUT = Sentence[ModesSummary](
    code="modes-left-out",
    text="Left out: {left} without a score of {judge}.",
    when="at least one answer has no score of the judge",
    holds=lambda summary: summary.n_left_out > 0,
    needs=_run_needs("left", "judge"),
    fills=_of_run,
)
UNANSWERABLE = Sentence[ModesSummary](
    code="modes-unanswerable-by-score",
    text="Answers to unanswerable questions ({unanswerable}) go by the score of {judge} here, in `ragstone "
    "blame` by whether they refuse.",
    when="the judge scored at least one answer to an unanswerable question",
    holds=lambda summary: summary.n_unanswerable > 0,
    needs=_run_needs("unanswerable", "judge"),
    fills=_of_run,
)
LOST_QUOTES = Sentence[ModesSummary](
    code="modes-quotes-dropped",
    text="{lost} of {quotes} of the model are not in their row and were dropped, and with them {dropped}.",
    when="a model read answers for this command, and at least one of its quotes is not in its row",
    holds=lambda summary: bool(summary.proposal and summary.proposal.n_quotes > summary.proposal.n_held),
    needs=_run_needs("lost", "quotes", "dropped"),
    fills=_of_run,
)
FAILED = Sentence[ModesSummary](
    code="modes-calls-failed",
    text="{failed} to the model failed: it has not read all wrong answers or notes. Run the command again.",
    when="a model read answers or notes for this command, and at least one of these calls failed",
    holds=lambda summary: bool(summary.proposal and summary.proposal.n_failed),
    needs=_run_needs("failed"),
    fills=_of_run,
)
OF_PEOPLE = Sentence[ModesSummary](
    code="modes-of-people",
    text="{people} from people's notes, which were not tested.",
    when="this command proposed at least one mode from people's notes",
    holds=lambda summary: bool(summary.proposal and summary.proposal.n_of_people),
    needs=_run_needs("people"),
    fills=_of_run,
)
GROUPED = Sentence[ModesSummary](
    code="modes-notes-grouped",
    text="The model put {grouped} of {notes} without a tag into modes.",
    when="this command gave a model people's notes without a tag, and no such call failed",
    holds=lambda summary: bool(summary.proposal and summary.proposal.n_notes),
    needs=_run_needs("grouped", "notes"),
    fills=_of_run,
)
FOUND_AGAIN = Sentence[ModesSummary](
    code="modes-found-again",
    text="{known} {have} a mode file already, which names at least half of the same answers.",
    when="this command confirmed at least one candidate whose answers, and those of a mode that was there, "
    "have half of them or more in common (for one of a model, of the wrong ones that it was tested on)",
    holds=lambda summary: bool(summary.proposal and summary.proposal.n_known),
    needs=_run_needs("known", "have"),
    fills=_of_run,
    never_beside=("modes-none-wrong", "modes-all-wrong", "modes-none-confirmed", "modes-no-candidate"),
)
OTHER_LABELS = Sentence[Mode](
    code="mode-other-labels",
    text="{other} of {title} not counted: given for another question, or another answer.",
    when="at least one label names the mode, and its question or its answer is not that of now",
    holds=lambda mode: mode.n_other_labels > 0,
    needs={"other": "such labels", "title": "the name of the mode"},
    fills=lambda mode: {"other": plural(mode.n_other_labels, "label"), "title": mode.title},
)
MODE_SENTENCES = (CHECKED, CHECKED_BLIND, PARTLY, NOT_ASKED, NOT_CHECKED)
OUTCOMES = (NONE_WRONG, ALL_WRONG, NONE_CONFIRMED, NO_CANDIDATE, WRONG)
NOTES = (FEW, UNCOVERED, FOUND_AGAIN, SAMPLE, UNANSWERABLE, LEFT_OUT, LOST_QUOTES, FAILED, OF_PEOPLE, GROUPED)
SENTENCES = (*MODE_SENTENCES, OTHER_LABELS, *OUTCOMES, *NOTES)
