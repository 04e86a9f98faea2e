import pytest

from ragstone.features.build._falsifying import (
    ChangeReply,
    CheckReply,
    FalsifiedText,
    Truths,
    check_change,
    count_negations,
    falsify_fact,
    is_negated,
    normal_form,
    plan_changes,
    replace_words,
)
from ragstone.kernel.dataset.candidate import Candidate, SourcePassage
from ragstone.kernel.llm import CallFailed, Reply
from ragstone.kernel.records import Evidence, Question, Usage

PAIRS = {
    "en": ("The bank accepts cards.", "The bank does not accept cards."),
    "de": ("Das Konto ist gültig.", "Das Konto ist nicht gültig."),
    "nl": ("De rekening is geldig.", "De rekening is niet geldig."),
    "fr": ("Le compte est valable.", "Le compte n'est pas valable."),
    "es": ("La cuenta es válida.", "La cuenta no es válida."),
    "pt": ("A conta é válida.", "A conta não é válida."),
    "it": ("Il conto è valido.", "Il conto non è valido."),
    "ro": ("Contul este valid.", "Contul nu este valid."),
    "pl": ("Konto jest ważne.", "Konto nie jest ważne."),
    "cs": ("Účet je platný.", "Účet je neplatný."),
    "ru": ("Счёт действителен.", "Счёт не действителен."),
    "uk": ("Рахунок дійсний.", "Рахунок не дійсний."),
    "el": ("Ο λογαριασμός είναι έγκυρος.", "Ο λογαριασμός δεν είναι έγκυρος."),
    "tr": ("Kartlar kabul edilir.", "Kartlar kabul edilmez."),
    "vi": ("Tài khoản có hiệu lực.", "Tài khoản không có hiệu lực."),
    "id": ("Rekening itu berlaku.", "Rekening itu tidak berlaku."),
    "hi": ("यह खाता मान्य है।", "यह खाता मान्य नहीं है।"),
    "bn": ("হিসাবটি বৈধ।", "হিসাবটি বৈধ নয়।"),
    "ar": ("الحساب صالح.", "الحساب ليس صالحا."),
    "zh": ("银行接受信用卡。", "银行不接受信用卡。"),
    "ja": ("銀行はカードを受け付けます。", "銀行はカードを受け付けません。"),
    "ko": ("은행은 카드를 받습니다.", "은행은 카드를 받지 않습니다."),
    "th": ("ธนาคารรับบัตร", "ธนาคารไม่รับบัตร"),
    "sv": ("Kontot är giltigt.", "Kontot är inte giltigt."),
}


@pytest.mark.parametrize(("lang", "pair"), PAIRS.items())
def test_a_negation_that_comes_or_goes_is_seen_in_each_language(lang, pair):
    plain, denied = (sentence.rstrip(".。।").split() for sentence in pair)
    assert is_negated(plain, denied, lang)
    assert is_negated(denied, plain, lang)
    assert not is_negated(plain, plain, lang)


def test_affixes_deny_and_words_that_look_alike_do_not():
    assert is_negated(["valid"], ["invalid"], "en")
    assert is_negated(["gelir"], ["gelmez"], "tr")
    assert not is_negated(["rises"], ["falls"], "en")
    assert not is_negated(["Delhi"], ["Mumbai"], "en")


def test_of_an_unknown_language_the_words_of_all_are_counted():
    assert count_negations("Konto nie jest not valid", None) == 2


@pytest.mark.parametrize(
    ("before", "after", "kind", "lang", "changed"),
    [
        ("It costs 5 euros.", "It costs 7 euros.", "number", "en", FalsifiedText("5", "7")),
        ("It is in Delhi.", "It is in Mumbai.", "entity", "en", FalsifiedText("Delhi", "Mumbai")),
        ("The fee rises.", "The fee falls.", "relation", "en", FalsifiedText("rises", "falls")),
        ("She can't pay.", "She can pay.", "negation", "en", FalsifiedText("can't", "can")),
        ("银行接受信用卡。", "银行不接受信用卡。", "negation", "zh", FalsifiedText("", "不")),
        ("银行在北京。", "银行在上海。", "entity", "zh", FalsifiedText("北 京", "上 海")),
        ("Bien que cher, il sert.", "Bien que laid, il sert.", "entity", "fr", FalsifiedText("cher", "laid")),
    ],
)
def test_the_change_asked_for_is_found(before, after, kind, lang, changed):
    assert check_change(before, after, kind, lang) == changed


@pytest.mark.parametrize(
    ("before", "after", "kind", "why"),
    [
        ("It is in Delhi.", "It is  in DELHI!", "entity", "nothing was changed"),
        (
            "The fee rises with it.",
            "Another sentence was written instead here.",
            "relation",
            "words were changed",
        ),
        ("A b c d e f g h i j.", "A x c d e f g h y j.", "entity", "2 places"),
        ("It costs 5 euros.", "It costs 7 dollars.", "number", "something other than a number"),
        ("It costs 5 euros.", "It costs 7 euros.", "entity", "a number was changed"),
        ("It costs 5 euros.", "It costs 7 euros.", "relation", "a number was changed"),
        ("It costs 5 euros.", "It does not cost 5 euros.", "entity", "a negation was changed"),
        ("It rises with age.", "It never rises with age.", "relation", "a negation was changed"),
        ("It is in Delhi.", "It is in Mumbai.", "negation", "no negation"),
        ("Now Paris grows fast.", "Now Rome grows fast.", "relation", "a name was changed"),
        ("It is in old Delhi.", "It is in Delhi.", "entity", "added or removed"),
        ("It is in old Delhi.", "It is in Delhi.", "relation", "added or removed"),
        (
            "It asks to block a sum.",
            "It asks not to a sum.",
            "negation",
            "more than a negation was removed: block",
        ),
    ],
)
def test_another_change_is_named(before, after, kind, why):
    found = check_change(before, after, kind, "en")
    assert isinstance(found, str)
    assert why in found


def test_words_are_the_same_whatever_their_case_and_punctuation():
    assert normal_form("The fee — 5 €, is LOW!") == normal_form("the fee 5 is low")
    assert normal_form("यह ऋण ४५ दिनों में है।") != normal_form("यह ऋण ५५ दिनों में है।")
    assert normal_form("मान्य है") == "मान्य है"


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
    passage = SourcePassage(document_id="d", start=0, end=len(TEXT), text=TEXT, lang=lang)
    return Candidate(question=question, passages=(passage,))


def truths(*said, text=TEXT):
    return Truths({normal_form(one) for one in said}, {"d": normal_form(text)})


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
        ("", "Mumbai", "is not in the statement"),
        ("Del", "Mum", "is not in the statement"),
        ("Lima", "Mumbai", "is not in the statement"),
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


async def test_what_another_true_statement_or_the_document_says_is_not_false(says):
    mumbai = "A car loan runs for 12 to 48 months in Mumbai."
    [candidate] = (
        await falsified(Model("Delhi", "Mumbai"), ["entity"], known=truths(LOAN, mumbai))
    ).candidates
    assert candidate.loss.reason == "unchanged"
    says(candidate.loss.detail)
    [candidate] = (
        await falsified(
            Model("Delhi", "Mumbai"), ["entity"], known=truths(LOAN, text=f"{TEXT} {mumbai.upper()}")
        )
    ).candidates
    assert candidate.loss.reason == "unchanged"
    says(candidate.loss.detail)


async def test_what_the_text_supports_is_not_false(says):
    model = Model("Delhi", "Mumbai", "true")
    [candidate] = (await falsified(model, ["entity"])).candidates
    assert candidate.loss.reason == "unchanged"
    says(candidate.loss.detail)


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


async def test_calls_that_fail_are_counted(says):
    done = await falsified(Model(CallFailed("refused", "the model refused")), ["entity", "relation"])
    assert done.candidates == []
    says([loss.detail for loss in done.failed])
    assert done.n_asked == 1


async def test_after_a_failed_call_a_number_is_changed_all_the_same():
    done = await falsified(
        Model(CallFailed("over_budget", "no calls left")), ["entity", "relation", "number"]
    )
    assert len(done.failed) == 1
    assert [one.loss for one in done.candidates] == [None]


async def test_without_a_number_to_change_that_is_said(says):
    [candidate] = (await falsified(Model(""), [], of=truth("The bank lends money."))).candidates
    says(candidate.loss.detail)


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
