import pytest

from ragstone.dataset.candidate import Candidate, Passage
from ragstone.dataset.factual.changes import same_words
from ragstone.dataset.factual.falsify import (
    ChangeReply,
    CheckReply,
    Truths,
    falsify_fact,
    plan_changes,
    replace_words,
)
from ragstone.llm import CallFailed, Reply
from ragstone.records import Evidence, Question, Usage

SECRET = b"0" * 32
TEXT = "A car loan runs for 12 to 48 months in Delhi. Rates fall when the bank is content. It is not free."
LOAN = "A car loan runs for 12 to 48 months in Delhi."


def truth(statement=LOAN, lang="en"):
    question = Question(
        id="",
        question=statement,
        reference="true",
        kind="true_false",
        lang=lang,
        evidence=[Evidence(document_id="d", start=0, end=len(TEXT))],
        document_ids=["d"],
        tags={"fact": "true"},
        metadata={"quote": TEXT},
    )
    passage = Passage(document_id="d", start=0, end=len(TEXT), text=TEXT, lang=lang)
    return Candidate(question=question, passages=(passage,))


def truths(*said, text=TEXT):
    return Truths({same_words(one) for one in said}, {"d": same_words(text)})


class Model:
    """An `ask` that replaces `was` by `now` for whoever asks for a change, and gives this verdict."""

    def __init__(self, was, now="", verdict="false"):
        self.change, self.verdict, self.asked = (was, now), verdict, []

    async def __call__(self, prompt):
        self.asked.append(prompt.reply.__name__)
        said = self.change[0] if prompt.reply is ChangeReply else self.verdict
        if isinstance(said, Exception):
            raise said
        value = (
            ChangeReply(was=said, now=self.change[1])
            if prompt.reply is ChangeReply
            else CheckReply(reason="As the text says.", verdict=said)
        )
        return Reply(text="", value=value, usage=Usage(), latency_s=0.0, cost_usd=None)


async def falsified(model, kinds, of=None, known=None):
    return await falsify_fact(of or truth(), kinds, known or truths(LOAN), seed=0, ask=model, secret=SECRET)


async def test_a_number_is_changed_and_nobody_is_asked():
    model = Model("")
    [candidate] = (await falsified(model, ["number"])).candidates
    row = candidate.question
    assert candidate.loss is None
    assert model.asked == []
    assert (row.reference, row.kind, row.tags) == (
        "false",
        "true_false",
        {"fact": "false", "change": "number"},
    )
    assert row.metadata["true"] == LOAN
    change = row.metadata["change"]
    assert row.question == LOAN.replace(change["before"], change["after"], 1)
    assert row.evidence == truth().question.evidence
    assert change["kind"] == "number"


@pytest.mark.parametrize(
    ("kind", "was", "now"),
    [("entity", "Delhi", "Mumbai"), ("negation", "runs", "does not run"), ("relation", "runs", "waits")],
)
async def test_a_models_change_is_checked_by_rules_and_by_a_call(kind, was, now):
    model = Model(was, now, "not_said")
    [candidate] = (await falsified(model, [kind])).candidates
    assert candidate.loss is None
    assert model.asked == ["ChangeReply", "CheckReply"]
    assert candidate.question.metadata["checked"] == "not_said"
    assert candidate.question.tags["change"] == kind
    assert candidate.question.question == LOAN.replace(was, now)


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ("Delhi", "Delhi", "nothing was changed"),
        (LOAN, "A boat loan never ends, nobody pays it back.", "words were changed"),
        ("Delhi", "a town that the model describes until its words are cut off by th", "60 characters"),
        ("48", "60", "a number was changed"),
        ("", "Mumbai", "does not stand in it"),
        ("Del", "Mum", "does not stand in it"),
        ("Lima", "Mumbai", "does not stand in it"),
    ],
)
async def test_a_change_of_another_kind_is_lost_before_the_call_that_checks(was, now, why):
    model = Model(was, now)
    [candidate] = (await falsified(model, ["entity"])).candidates
    assert candidate.loss.reason == "unchanged"
    assert why in candidate.loss.detail
    assert model.asked == ["ChangeReply"]
    assert candidate.question.reference == "false"
    assert candidate.question.metadata["true"] == LOAN


@pytest.mark.parametrize(
    ("statement", "was", "now", "changed"),
    [
        ("Delhi is big.", "delhi", "mumbai", "Mumbai is big."),
        ("Das ist Teil 1, Teil 2.", "teil", "Band", "Das ist Band 1, Teil 2."),
        ("银行在北京。", "北京", "上海", "银行在上海。"),
        ("It costs $5 a year.", "a year", "a month", "It costs $5 a month."),
        ("It is not free.", "not ", "", "It is free."),
        ("यह बैंक मान्य है।", "मान्य है", "मान्य नहीं है", "यह बैंक मान्य नहीं है।"),
    ],
)
def test_words_are_replaced_as_whole_words_the_first_time(statement, was, now, changed):
    assert replace_words(statement, was, now) == changed


async def test_what_another_true_statement_or_the_document_says_is_not_false():
    mumbai = "A car loan runs for 12 to 48 months in Mumbai."
    [candidate] = (
        await falsified(Model("Delhi", "Mumbai"), ["entity"], known=truths(LOAN, mumbai))
    ).candidates
    assert (candidate.loss.reason, candidate.loss.detail) == ("unchanged", "it is another true statement")
    [candidate] = (
        await falsified(
            Model("Delhi", "Mumbai"), ["entity"], known=truths(LOAN, text=f"{TEXT} {mumbai.upper()}")
        )
    ).candidates
    assert (candidate.loss.reason, candidate.loss.detail) == ("unchanged", "it stands in the document")


async def test_what_the_text_supports_is_not_false():
    model = Model("Delhi", "Mumbai", "true")
    [candidate] = (await falsified(model, ["entity"])).candidates
    assert candidate.loss.reason == "unchanged"
    assert candidate.loss.detail == "the text supports it: As the text says."


async def test_what_nobody_could_check_is_lost():
    model = Model("Delhi", "Mumbai", CallFailed("timeout", "too late"))
    [candidate] = (await falsified(model, ["entity", "negation"])).candidates
    assert (candidate.loss.reason, candidate.loss.detail) == ("call_failed", "timeout: too late")


async def test_where_a_change_fails_the_next_kind_is_tried_and_all_attempts_are_kept():
    done = await falsified(Model("Delhi", "Delhi"), ["entity", "negation", "number"])
    assert [one.question.tags["change"] for one in done.candidates] == ["entity", "negation", "number"]
    assert [one.loss and one.loss.reason for one in done.candidates] == ["unchanged", "unchanged", None]
    assert done.n_asked == 3


async def test_a_model_is_asked_for_two_kinds_at_most():
    done = await falsified(Model("Delhi", "Delhi"), ["entity", "negation", "relation"])
    assert done.n_asked == len(done.candidates) == 2


async def test_calls_that_fail_are_counted():
    done = await falsified(Model(CallFailed("refused", "the model refused")), ["entity", "relation"])
    assert done.candidates == []
    assert [loss.detail for loss in done.failed] == ["refused: the model refused"]
    assert done.n_asked == 1


async def test_after_a_failed_call_a_number_is_changed_all_the_same():
    done = await falsified(
        Model(CallFailed("over_budget", "no calls left")), ["entity", "relation", "number"]
    )
    assert len(done.failed) == 1
    assert [one.loss for one in done.candidates] == [None]


async def test_without_a_number_to_change_that_is_said():
    [candidate] = (await falsified(Model(""), [], of=truth("The bank lends money."))).candidates
    assert candidate.loss.detail == "it has no number that can be changed"


def test_kinds_are_spread_evenly_and_a_number_is_offered_where_there_is_one():
    statements = [
        truth("The bank lends money."),
        truth("The bank trusts you."),
        truth(),
        truth("It is calm."),
    ]
    plans = plan_changes(statements, ["number", "entity", "negation"], truths(), 0)
    assert [plan[0] for plan in plans] == ["entity", "negation", "number", "entity"]
    assert [len(plan) for plan in plans] == [2, 2, 3, 2]
    assert plan_changes(statements[:1], ["number"], truths(), 0) == [[]]
