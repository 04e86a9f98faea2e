"""Documents that have changed: evidence is found again where that is certain; stale questions are named."""

import random
import time
import unicodedata

import msgspec
import pytest

from ragstone.kernel.dataset._realigning import Asked, TextWords, realign
from ragstone.kernel.dataset._spans import EvidenceWords
from ragstone.kernel.dataset.placing import SOURCES, remember_sources
from ragstone.kernel.dataset.stale import check_evidence
from ragstone.kernel.records import Document, Evidence, Question

MILL = (
    "Long before, only a ferry crossed the river here. The mill on the river was built in 1843 by Jonas "
    "Weber. It ground rye until the war, and its wheel turned 12 times a minute.\n\n"
    "The bakery beside it opened later. It sold bread to 30 villages."
)
OTHER = "Barley is sown in March. It is cut in July, before the wheat, and dried on racks."
WHOLE = "The mill on the river was built in 1843 by Jonas Weber."


def asked(words, *, text=MILL, name="q", document="mill", reference="1843", remembered=True, **fields):
    at = text.index(words)
    span = Evidence(document_id=document, start=at, end=at + len(words))
    question = Question(
        id=name,
        question="When was the mill on the river built?",
        reference=reference,
        evidence=[span],
        lang="en",
        **fields,
    )
    return remember_sources(question, {document: text}) if remembered else question


def check(question, text=None, **others):
    documents = [] if text is None else [Document(id="mill", text=text)]
    documents += [Document(id=name, text=other) for name, other in {"barley": OTHER, **others}.items()]
    return check_evidence([question], documents)


def state(question, text=None, **others):
    return check(question, text, **others).states.get(question.id)


def words_now(question, text, **others):
    """The words at the place where the evidence is said to be now."""
    [span] = check(question, text, **others).questions[0].evidence
    texts = {"mill": text, "barley": OTHER, **others}
    return span.document_id, texts[span.document_id][span.start : span.end]


BOTH = pytest.mark.parametrize("words", ["1843", WHOLE], ids=["short", "sentence"])


@BOTH
def test_in_the_documents_that_it_was_made_from_nothing_is_stale(words):
    checked = check(asked(words), MILL)
    assert (checked.states, checked.stale, checked.notes()) == ({"q": "unchanged"}, {}, [])


@BOTH
@pytest.mark.parametrize(
    "edit",
    [
        lambda text: f"A new beginning. {text}",
        lambda text: text.replace("The mill on", "News came. The mill on"),
        lambda text: "\n\n".join(reversed(text.split("\n\n"))),
        lambda text: text.replace("river here. ", "river here.\n\n\n"),
    ],
    ids=["before", "sentence before", "paragraphs swapped", "paragraph split"],
)
def test_evidence_that_moved_is_found_again_to_the_letter(words, edit):
    assert state(asked(words), edit(MILL)) == "moved"
    assert words_now(asked(words), edit(MILL)) == ("mill", words)


def test_evidence_that_was_wrapped_or_whose_typing_slip_was_mended_says_the_same():
    wrapped = MILL.replace("was built in 1843", "was\nbuilt in 1843")
    assert state(asked(WHOLE), wrapped) == "edited"
    assert words_now(asked(WHOLE), wrapped) == ("mill", WHOLE.replace("was ", "was\n"))
    slip = MILL.replace("river was", "rievr was")
    question = asked(WHOLE.replace("river", "rievr"), text=slip)
    assert state(question, MILL) == "edited"
    assert words_now(question, MILL) == ("mill", WHOLE)


@BOTH
def test_evidence_of_a_document_with_another_name_or_in_another_one_is_found_there(words):
    question = asked(words, document_ids=["mill"])
    checked = check(question, None, water=f"Mills. {MILL}")
    assert checked.states == {"q": "moved"}
    assert checked.questions[0].document_ids == ["water"]
    assert words_now(question, None, water=f"Mills. {MILL}") == ("water", words)
    # The document is still there, and the paragraph is in another one.
    assert state(question, MILL.split("\n\n")[1], water=MILL) == "moved"


@BOTH
@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (("1843", "1844"), "answer changed"),
        (("was built", "was not built"), "answer changed"),
        (("in 1843 by", "in spring by"), "answer changed"),
    ],
    ids=["number", "negation", "answer replaced"],
)
def test_an_answer_that_changed_is_stale_and_the_reason_quotes_both(words, edit, expected, says):
    changed = MILL.replace(*edit)
    checked = check(asked(words), changed)
    assert checked.states == {"q": expected}
    assert checked.unplaced == {"q"}
    assert edit[1].strip(" by") in checked.because["q"]
    says(checked.because["q"])


def test_a_negation_far_from_short_evidence_is_seen_for_the_whole_sentence_is_remembered():
    text = MILL.replace("The mill", "The mill with the two wheels that everybody in the valley knew so well")
    question = asked("1843", text=text)
    assert state(question, text.replace("so well on", "so well never stood on")) == "answer changed"


@BOTH
def test_evidence_that_was_deleted_is_gone_and_without_its_document_too(words, says):
    without = MILL.replace(WHOLE, "")
    assert state(asked(words), without) == "evidence gone"
    assert state(asked(words), None) == "document gone"
    says(check(asked(words), None).because["q"])


@BOTH
def test_what_is_edited_elsewhere_in_the_document_makes_nothing_stale(words):
    for edit in (
        ("Weber. It", "Weber.\n\nIt"),
        ("30 villages", "31 villages"),
        ("12 times", "13 times"),
        ("It ground", "It never ground"),
    ):
        assert state(asked(words), MILL.replace(*edit)) == "unchanged", edit


def test_of_words_that_carry_the_answer_only_a_person_can_tell_what_a_change_means():
    question = asked(WHOLE, reference="in the forties of the 19th century")
    assert state(question, MILL.replace("Jonas Weber", "Anna Klein")) == "evidence changed"
    assert state(question, MILL.replace("was built in", "was first built in")) == "edited"


def test_a_number_written_in_another_form_is_the_same_number():
    text = MILL.replace("30 villages", "1,200 villages")
    question = asked("It sold bread to 1,200 villages.", text=text, reference="1,200")
    assert state(question, text.replace("1,200", "1200")) == "edited"


def test_without_digests_only_what_a_copied_reference_tells_is_said():
    question = asked("1843", remembered=False)
    assert state(question, f"News. {MILL}") == "moved"
    assert state(question, MILL.replace("1843", "1850")) == "evidence gone"
    assert state(question, f"{'x' * 300} 1843 {'y' * 300} 1843") == "unclear"
    other_words = asked(WHOLE, remembered=False, reference="in 1843")
    assert state(other_words, f"News. {MILL}") == "unknown"
    assert state(other_words, "Short.") == "unclear"


SET_ANEW = {
    "wrapped": lambda text: text.replace(" ", "\r\n"),
    "spaces that do not break": lambda text: text.replace(" ", "\u00a0"),
    "no width": lambda text: text.replace(" ", " \u200b"),
    "soft hyphens": lambda text: text.replace("ill", "i\u00adll").replace("eber", "e\u00adber"),
    "broken words": lambda text: text.replace("river", "ri-\n ver").replace("Weber", "We-\nber"),
    "accents apart": lambda text: unicodedata.normalize("NFD", text),
}


@pytest.mark.parametrize("how", SET_ANEW)
@pytest.mark.parametrize("lang", ["en", "de", None])
@BOTH
def test_a_document_that_is_only_set_anew_is_not_stale_under_another_id_either(words, lang, how):
    text = MILL.replace("rye", "Rübsen")
    question = msgspec.structs.replace(asked(words, text=text), lang=lang)
    anew = SET_ANEW[how](text)
    assert state(question, f"News. {anew}") in ("moved", "edited")
    assert state(question, None, water=anew) in ("moved", "edited")


def test_numbers_that_are_set_apart_are_not_the_same_number():
    text = MILL.replace("30 villages", "1 20 villages")
    question = asked("It sold bread to 1 20 villages.", text=text, reference="1 20")
    assert state(question, text.replace("1 20", "12 0")) == "answer changed"


def test_long_evidence_takes_no_minutes():
    draw = random.Random(1)
    known = [f"w{n}" for n in range(900)] + ["the"] * 300
    words = draw.choices(known, k=4000)
    question = asked(" ".join(words[:2500]), text=" ".join(words))
    began = time.process_time()
    words[100::50] = ["other"] * len(words[100::50])
    assert state(question, " ".join(words)) == "evidence changed"
    assert time.process_time() - began < 2


def test_of_a_document_without_remembered_words_that_is_not_there_the_reason_says_so(says):
    named = Question(id="q", question="When?", document_ids=["mill"])
    for question in (named, asked(MILL), asked("Long before", remembered=False, reference="?")):
        because = check(question, None).because["q"]
        says(because)


def test_of_evidence_that_is_a_whole_document_its_digest_tells_whether_it_is_the_same_or_was_renamed():
    whole = asked(MILL)
    assert state(whole, None, water=MILL) == "moved"
    assert state(whole, f"{MILL} More.") == "unclear"


def test_questions_without_evidence_are_stale_only_where_no_document_is_there_that_they_name():
    question = Question(id="q", question="When?", document_ids=["mill", "water"])
    assert state(question, None) == "document gone"
    assert state(question, None, water="It is wet.") is None
    assert check_evidence([question], []).states == {}


def test_a_document_that_was_dropped_as_a_duplicate_is_not_gone():
    kept = Document(id="water", text=MILL, metadata={"duplicates": ["mill"]})
    assert check_evidence([asked("1843")], [kept]).states == {"q": "unchanged"}


def test_another_span_that_still_holds_the_reference_is_enough():
    more = MILL.replace("The bakery", "A stone says 1843. The bakery")
    one, two = asked("in 1843 by", text=more), asked("A stone says 1843.", text=more)
    both = remember_sources(
        msgspec.structs.replace(one, evidence=[*one.evidence, *two.evidence]), {"mill": more}
    )
    assert state(both, more.replace("in 1843 by", "in 1850 by")) in ("unchanged", "moved")
    assert state(both, more.replace("1843", "1850")) == "answer changed"


def test_evidence_is_in_its_language_and_its_script():
    text = "这座磨坊建于1843年。它是由约纳斯建造的，每分钟转十二圈。面包房后来才开业。"
    sentence = "它是由约纳斯建造的，每分钟转十二圈。"
    at = text.index(sentence)
    question = Question(
        id="q",
        question="谁建造的？",
        reference="约纳斯",
        evidence=[Evidence(document_id="mill", start=at, end=at + len(sentence))],
        lang="zh",
    )
    question = remember_sources(question, {"mill": text})
    assert state(question, f"新闻。{text}") == "moved"
    assert state(question, text.replace("它是由", "它不是由")) == "answer changed"
    assert state(question, text.replace("约纳斯", "安娜")) == "answer changed"


def test_evidence_that_was_marked_by_hand_since_is_unknown_and_broken_notes_are_not_trusted():
    question = asked("1843")
    broken = msgspec.structs.replace(question, metadata={SOURCES: [{"document_id": 3}]})
    assert state(broken, MILL) == "unknown"


def test_the_same_words_in_a_row_nowhere_are_not_aligned():
    known = EvidenceWords("", WHOLE, "", "x")
    nothing = Asked("When?", ["1843"], "en")
    assert realign(known, TextWords(OTHER), nothing) is None
    assert realign(known, TextWords(""), nothing) is None
    assert realign(EvidenceWords("", "!", "", "x"), TextWords(MILL), nothing) is None


def test_notes_count_the_stale_and_name_them(says):
    rows = [asked("1843", name=f"q{at}") for at in range(5)] + [
        asked("12 times", name="wheel", reference="12")
    ]
    checked = check_evidence(rows, [Document(id="mill", text=MILL.replace("1843", "1850"))])
    assert sorted(checked.stale) == ["q0", "q1", "q2", "q3", "q4"]
    says(checked.notes())


def test_a_short_sentence_that_moved_alone_to_another_document_is_found_there():
    sentence = "It sold bread to 30 villages."
    question = asked(sentence, reference="30 villages")
    page = f"How to bake, and for whom. {sentence} Wipe the oven with a dry cloth."
    assert state(question, MILL.replace(sentence, ""), care=page) == "moved"
    assert words_now(question, MILL.replace(sentence, ""), care=page) == ("care", sentence)


COMMAND = "_build/prod/rel/my_app start"
GUIDE = (
    f"The release is at hand. Read the notes first.\n\n    # To start it\n    {COMMAND}\n\n"
    f"You can start the release by calling `{COMMAND}`, or boot the server by hand, as you like."
)


def test_a_changed_sentence_is_unclear_where_its_short_evidence_stands_elsewhere_by_itself(says):
    at = GUIDE.rindex(COMMAND)
    span = Evidence(document_id="mill", start=at, end=at + len(COMMAND))
    question = Question(id="q", question="What starts it?", reference=COMMAND, evidence=[span])
    known = remember_sources(question, {"mill": GUIDE})
    changed = GUIDE[:at] + "bin/server" + GUIDE[at + len(COMMAND) :]
    checked = check(known, changed)
    assert (checked.states, checked.stale) == ({"q": "unclear"}, {})
    says(checked.because["q"])
    assert checked.questions[0].evidence == [span]
    gone = check(known, GUIDE[: GUIDE.index("\n\nYou can")])
    assert gone.states == {"q": "unclear"}
    says(gone.because["q"])
    # With anything of what stood beside it, it was moved.
    beside = GUIDE[:at] + "bin/server" + GUIDE[at + len(COMMAND) :] + GUIDE[at - 40 : at + 60]
    assert check(known, beside).states == {"q": "moved"}


def test_a_changed_answer_under_another_id_is_not_traded_for_a_sentence_that_is_less_like_it():
    question = asked("1843")
    other = "The mill on the hill was built in 1843 by Jonas Braun the elder."
    assert check(question, None, mill2=MILL.replace("1843", "1850"), hill=other).states == {
        "q": "answer changed"
    }
    assert check(question, None, mill2=MILL, hill=other).states == {"q": "moved"}


def test_of_a_sentence_that_is_remembered_its_end_is_seen_where_its_beginning_alone_would_end_before():
    # Thai ends a clause at the first space after so many characters: a passage that is cut ends others.
    before = "หมู่บ้านริมแม่น้ำแห่งนี้มีประวัติศาสตร์ยาวนานและมีผู้คนอาศัยอยู่มากมายมาตั้งแต่อดีต"
    after = "ซึ่งได้รับความนิยมอย่างมากจากนักท่องเที่ยวทั่วประเทศและผู้ที่มาจากต่างประเทศ"
    text = f"{before} โยนาส เวเบอร์ สร้างโรงสีเก่าแก่ของหมู่บ้าน {after}"
    question = asked("โยนาส เวเบอร์", text=text, reference="โยนาส เวเบอร์")
    known = remember_sources(msgspec.structs.replace(question, lang="th"), {"mill": text})
    assert state(known, text.replace("ซึ่งได้รับ", "ซึ่งไม่ได้รับ")) == "answer changed"
    assert state(known, f"ข่าว {text}") == "moved"
