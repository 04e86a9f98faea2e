from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.dataset.candidate import REASONS, Candidate, SourcePassage
from ragstone.kernel.dataset.checks import CHECKS, evidence_of, length_in_words
from ragstone.kernel.records import Document, Evidence, Question, references
from ragstone.kernel.tables import read_rows
from ragstone.kernel.tables.columns import to_canonical


def candidate(question, reference="October", evidence=None, text="", **fields):
    spans = None
    if evidence is not None:
        start = text.index(evidence)
        spans = [Evidence(document_id="d", start=start, end=start + len(evidence))]
    passages = (SourcePassage(document_id="d", start=0, end=len(text), text=text),) if text else ()
    row = Question(id="q", question=question, reference=reference, evidence=spans, **fields)
    return Candidate(question=row, passages=passages)


def found_first(row):
    """The first check that finds something, and what."""
    found = ((name, check(row)) for name, check in CHECKS.items())
    return next(((name, detail) for name, detail in found if detail is not None), (None, None))


def reason(question, reference="October", **fields):
    return found_first(candidate(question, reference, **fields))[0]


EMPTY = [
    ("", "October"),
    ("   ", "October"),
    ("?!", "October"),
    ("When is wheat sown?", ""),
    ("When is wheat sown?", None),
    ("When is wheat sown?", "..."),
    ("When is wheat sown?", ["", " "]),
    ("When is wheat sown?", "I don't know."),
    ("When is wheat sown?", "I do not know"),
    ("Wann wird gesät?", "Ich weiß es nicht."),
    ("何时播种小麦？", "不知道"),
]
TOO_LONG = [
    ("Why " + "very " * 60 + "wet?", "October"),
    ("When?! is it?", "word " * 401),
    ("为什么" + "很" * 120 + "?", "十月"),
]
NO_QUESTION = [
    ("Wheat is sown in October.", "October"),
    ("Why?", "October"),
    ("Question 1:", "October"),
    ("Wheat", "October"),
    ("The field, which lies north, is wet.", "October"),
    ("Der Weizen wird im Oktober gesät.", "Oktober"),
    ("El trigo se siembra en octubre.", "octubre"),
    ("Here are some questions about wheat:", "October"),
    ("小麦在十月播种。", "十月"),
    ("गेहूँ अक्टूबर में बोया जाता है।", "अक्टूबर"),
    ("ข้าวสาลีปลูกในเดือนตุลาคม", "ตุลาคม"),
]
MENTIONS = [
    ("According to the passage, when is wheat sown?", "en"),
    ("Based on the provided context, when is it sown?", "en"),
    ("What does the author say about wheat?", "en"),
    ("What is the question asking about?", "en"),
    ("What is mentioned in the document about wheat?", "en"),
    ("When is wheat sown in the given text?", "en"),
    ("What is the main idea of this passage?", "en"),
    ("What does Figure 2 show?", "en"),
    ("What are the values in Table 3?", "en"),
    ("Who is described in this section?", "en"),
    ("Which of the above crops is sown first?", "en"),
    ("What crops are mentioned above?", "en"),
    ("What does the code snippet above return?", "en"),
    ("Which of the following is a crop?", "en"),
    ("What is the purpose of the document?", "en"),
    ("As stated in the text, when is wheat sown?", "en"),
    ("Given the context, when is wheat sown?", "en"),
    ("What does the document say about wheat?", "en"),
    ("What is the function defined in the code?", "en"),
    ("From the excerpt, when is wheat sown?", "en"),
    ("Laut dem Text, wann wird Weizen gesät?", "de"),
    ("Wann wird Weizen gesät, wie im Dokument beschrieben?", "de"),
    ("Was meint der Autor mit Ernte?", "de"),
    ("Welche Sorten sind oben genannt?", "de"),
    ("Selon le texte, quand sème-t-on le blé ?", "fr"),
    ("Que dit l'auteur du blé ?", "fr"),
    ("Quels blés sont mentionnés dans le document ?", "fr"),
    ("Según el texto, ¿cuándo se siembra?", "es"),
    ("¿Qué menciona el autor sobre el trigo?", "es"),
    ("¿Qué trigos se describen en este documento?", "es"),
    ("De acordo com o texto, quando se semeia?", "pt"),
    ("O que é mencionado neste documento?", "pt"),
    ("Secondo il testo, quando si semina?", "it"),
    ("Che cosa dice l'autore del grano?", "it"),
    ("Volgens de tekst, wanneer wordt gezaaid?", "nl"),
    ("Wat wordt er in dit document beschreven?", "nl"),
    ("Согласно тексту, когда сеют пшеницу?", "ru"),
    ("О чём говорится в данном отрывке?", "ru"),
    ("Згідно з текстом, коли сіють пшеницю?", "uk"),
    ("Według tekstu, kiedy sieje się pszenicę?", "pl"),
    ("Co autor mówi o pszenicy w tym fragmencie?", "pl"),
    ("Metne göre buğday ne zaman ekilir?", "tr"),
    ("Yukarıdaki metinde hangi ürünler var?", "tr"),
    ("Theo đoạn văn, lúa mì được gieo khi nào?", "vi"),
    ("Tác giả nói gì về lúa mì?", "vi"),
    ("Menurut teks, kapan gandum ditanam?", "id"),
    ("Apa yang disebutkan dalam dokumen ini?", "id"),
    ("गद्यांश के अनुसार गेहूँ कब बोया जाता है?", "hi"),
    ("दिए गए पाठ में किसका वर्णन है?", "hi"),
    ("অনুচ্ছেদ অনুসারে গম কখন বোনা হয়?", "bn"),
    ("প্রদত্ত নথিতে কী বলা হয়েছে?", "bn"),
    ("وفقًا للنص، متى يزرع القمح؟", "ar"),
    ("ما المذكور في هذا المقطع؟", "ar"),
    ("طبق متن، گندم چه زمانی کاشته می‌شود؟", "fa"),
    ("بر اساس سند، گندم کی کاشته می‌شود؟", "fa"),
    ("根据文章，小麦什么时候播种？", "zh"),
    ("文中提到了哪些作物？", "zh"),
    ("作者认为小麦怎么样？", "zh"),
    ("本文によると、小麦はいつ播かれますか？", "ja"),
    ("この文章で述べられている作物は何ですか？", "ja"),
    ("본문에 따르면 밀은 언제 심습니까?", "ko"),
    ("위의 글에서 언급된 작물은 무엇입니까?", "ko"),
    ("Kulingana na kifungu, ngano hupandwa lini?", "sw"),
    ("ตามบทความนี้ ปลูกข้าวสาลีเมื่อใด", "th"),
    ("พืชใดที่กล่าวถึงในข้อความ", "th"),
    ("Σύμφωνα με το κείμενο, πότε σπέρνεται το σιτάρι;", "el"),
    ("Conform textului, când se seamănă grâul?", "ro"),
    ("Ce este menționat în acest document?", "ro"),
]
GIVEN_AWAY = [
    ("Is sown-in-October wheat sown in October, and when?", "October"),
    ("What colour is the red wheat?", "red wheat"),
    ("Who is the director Ada Palmgren?", "Ada Palmgren"),
    ("特斯拉公司是谁创办的特斯拉？", "特斯拉"),
]
FINE = [
    "What is shown in the text box?",
    "Which fields are contained in the page header?",
    "What is displayed according to the document type?",
    "What document is needed to open an account?",
    "Which text editor is used at CERN?",
    "How do I create a context in Phoenix?",
    "What is a section in the penal code?",
    "What articles state that powers remain with member states?",
    "What does Article 102 of the Treaty of Lisbon prohibit?",
    "Who is the author of Emma?",
    "In the context of farming, what is tilth?",
    "How high above sea level does wheat grow?",
    "What author is best known for The Metaphysical Club?",
    "What is the maximum limit for Section 54 EC bonds?",
    "Explain how wheat is sown.",
    "List the months in which wheat is sown",
    "What is the above-ground part of a plant called?",
    "How do I give a function the context module?",
    "causes of the trail of tears",
    "What is Table Mountain?",
    "Which figure led the revival of 1812?",
    "What happened on page one of the Times?",
    "How does Phoenix generate a context with a schema?",
    "What text does the button show?",
    "Who wrote the article on Ada Palmgren?",
    "How do I attach a document to a claim?",
    "What documents are required for opening a current account?",
    "Which passage links the two seas?",
    "What is context switching?",
    "How is the paragraph style set in LibreOffice?",
    "Is any additional documentation required for the facility",
    "What is the Chapter 11 rule for bankruptcy?",
    "Welches Dokument braucht man für ein Konto?",
    "Wer ist der Autor von Emma?",
    "Wie öffne ich einen Text in Word?",
    "Quel document faut-il pour ouvrir un compte ?",
    "Qui est l'auteur de Germinal ?",
    "¿Qué documento necesito para abrir una cuenta?",
    "¿Quién es el autor de Rayuela?",
    "Какой документ нужен для открытия счёта?",
    "Кто автор романа «Идиот»?",
    "开户需要什么文件？",
    "谁是《红楼梦》的作者？",
    "栉水母类在希腊文中是什么意思？",
    "Hesap açmak için hangi belge gerekir?",
    "खाता खोलने के लिए कौन सा दस्तावेज़ चाहिए?",
    "ما المستند المطلوب لفتح حساب؟",
    "Tài liệu nào cần để mở tài khoản?",
    "口座を開くにはどの書類が必要ですか？",
    "계좌를 열려면 어떤 문서가 필요합니까?",
    "ต้องใช้เอกสารอะไรเปิดบัญชี",
]


@pytest.mark.parametrize(("question", "answer"), EMPTY)
def test_an_empty_question_or_answer_is_lost(question, answer):
    assert reason(question, answer) == "empty"


@pytest.mark.parametrize(("question", "answer"), TOO_LONG)
def test_a_question_or_answer_of_too_many_words_is_lost(question, answer):
    assert reason(question, answer) == "too_long"


@pytest.mark.parametrize(("question", "answer"), NO_QUESTION)
def test_a_statement_or_a_stub_asks_nothing(question, answer):
    assert reason(question, answer) == "no_question"


@pytest.mark.parametrize(("question", "lang"), MENTIONS)
def test_a_question_that_speaks_of_its_passage_is_lost_with_or_without_a_language(question, lang):
    assert reason(question, lang=lang) == "mentions_context"
    assert reason(question) == "mentions_context"


@pytest.mark.parametrize(("question", "answer"), GIVEN_AWAY)
def test_a_question_that_holds_its_answer_is_lost(question, answer):
    assert reason(question, answer) == "answer_in_question"


@pytest.mark.parametrize("question", FINE)
def test_a_sound_question_passes(question):
    assert reason(question, "a thing that it does not name") is None


def test_the_list_of_bad_questions_is_long():
    assert len(EMPTY + TOO_LONG + NO_QUESTION + MENTIONS + GIVEN_AWAY) >= 60


def test_an_answer_that_begins_with_the_passage_speaks_of_it():
    assert reason("When is it sown?", "According to the passage, in October.") == "mentions_context"
    assert reason("When is it sown?", "The passage does not mention it.") == "mentions_context"
    # A document may speak of itself further on.
    assert reason("How do I apply?", "Log in to your account and follow the steps mentioned below.") is None


def test_answers_that_stand_in_the_question_for_a_reason_pass():
    assert reason("Is wheat sown in October or in May?", "October") is None
    assert reason("Which is sown first between wheat and maize?", "wheat") is None
    assert reason("Does no rain fall?", "No") is None
    assert reason("How many of the 12 fields are wet?", "12") is None


def test_questions_without_an_answer_and_statements_are_not_asked_for_one():
    assert reason("When is rye sown?", None, answerable=False) is None
    assert reason("Wheat is sown in October.", "true", kind="true_false") is None


def test_evidence_of_a_word_that_lacks_the_answer_is_too_short():
    text = "Wheat is sown in October. It is wet."
    assert reason("When is it sown?", "in late autumn", evidence="wet", text=text) == "evidence_too_short"
    assert (
        reason("When is it sown?", "in October", evidence="October", text=text) is None
    )  # it holds the answer
    assert reason("When is it sown?", "in late autumn", evidence="sown in October", text=text) is None
    # 10 words of answer, 3 of evidence that it shares nothing with: more than three times as long.
    long = "when leaves fall and frost comes the farmers go out"
    assert reason("When is it sown?", long, evidence="It is wet", text=text) == "evidence_too_short"


def test_evidence_is_read_at_its_place_in_a_passage_that_begins_later():
    span = Evidence(document_id="d", start=105, end=109)
    passage = SourcePassage(document_id="d", start=100, end=110, text="0123456789")
    row = Question(id="q", question="?", evidence=[span, Evidence(document_id="e", start=0, end=3)])
    assert evidence_of(Candidate(question=row, passages=(passage,))) == ["5678"]


def test_the_detail_says_what_was_found(says):
    says(found_first(candidate("According to the passage, when is wheat sown?"))[1])
    says(found_first(candidate("Why " + "very " * 60 + "wet?"))[1])


def test_two_characters_without_spaces_count_as_a_word():
    assert length_in_words("小麦什么时候播种") == 4
    assert length_in_words("小麦 in May") == 3
    assert length_in_words("왜 밀을 심습니까") == 3


@given(st.text(), st.text(), st.sampled_from([None, "en", "zh", "xx"]))
def test_any_text_is_checked(question, answer, lang):
    name, _ = found_first(candidate(question, answer, lang=lang))
    assert name is None or REASONS[name][0] == "check"


def test_every_check_is_a_reason():
    assert all(REASONS[name][0] == "check" for name in CHECKS)


@pytest.mark.pack
@pytest.mark.parametrize("pack", ["xquad", "squad2", "clapnq", "agxqa", "bankfaq"])
def test_at_most_one_of_a_hundred_people_s_questions_is_lost_by_each_check(shared_data, pack):
    documents = {row.id: row for row in read_rows(shared_data / pack / "documents.jsonl", Document)}
    n_asked, n_lost = Counter(), Counter()
    for line in (shared_data / pack / "questions.jsonl").read_bytes().splitlines():
        row = Question(**to_canonical({**msgspec.json.decode(line), "evidence": None}, Question))
        text = documents[row.document_ids[0]].text
        quoted = next((one for one in references(row) if one in text), None)
        start = text.index(quoted) if quoted else 0
        spans = (
            [Evidence(document_id=row.document_ids[0], start=start, end=start + len(quoted))]
            if quoted
            else None
        )
        passage = SourcePassage(document_id=row.document_ids[0], start=0, end=len(text), text=text)
        asked = Question(
            id=row.id, question=row.question, reference=row.reference, evidence=spans,
            answerable=row.answerable, lang=row.lang,
        )  # fmt: skip
        n_asked[row.lang] += 1
        n_lost.update((row.lang, name) for name, check in CHECKS.items()
                      if check(Candidate(question=asked, passages=(passage,))) is not None)  # fmt: skip
    shares = {key: n / n_asked[key[0]] for key, n in n_lost.items()}
    assert {key: share for key, share in shares.items() if share > 0.01} == {}
