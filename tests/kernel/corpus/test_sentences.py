"""Sentences of many scripts. `‖` stands where a sentence must end, and nowhere else may one end."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.corpus.sentences import SPACED_LENGTH, sentence_spans

# lang, text
TABLE = [
    ("en", "It rained. ‖It poured! ‖Why?"),
    ("en", "Dr. Smith met Mrs. Jones and Prof. Lee. ‖They left."),
    ("en", "It costs 3.14 or $1,000.50 a day. ‖Version 2.0.1 is out."),
    ("en", "He moved to the U.S. in 1990. ‖He stayed in the U.S. ‖The end."),
    ("en", "The U.S. Army came at 5 p.m. on Monday."),
    ("en", "Crops, e.g. maize, i.e. corn, etc. are grown. ‖Then they are sold."),
    ("en", "J. R. R. Tolkien and Arthur C. Clarke wrote. ‖We read."),
    ("en", "Wait... what? ‖Well… ‖Yes . . . no."),
    ("en", '"Really?" he asked. ‖"Yes." ‖She left.'),
    ("en", "(See below.) ‖It works [as said.] ‖Good."),
    ("en", "See Fig. 3 and No. 5, vol. 2, pp. 10–12. ‖He said no. ‖Then he went."),
    ("en", "It is so.[3] ‖But not always.[citation needed] ‖No."),
    ("en", "Visit example.com/a?b=c!d or mail a.b@c.org now. ‖Thanks."),
    ("en", "1. Sow the seed. ‖\n2. Water it. ‖\n3. Wait."),
    ("en", "What?! ‖No!! ‖Never..."),
    ("en", "A title ‖\n\nA paragraph without a full stop ‖\n\nAnother one"),
    (
        "en",
        "This line was wrapped by an editor at some\nwidth, and so was this one, as mails are,\nuntil here.",
    ),
    ("en", "- sow in a row\n‖- water often\n‖- wait for the harvest and then store the grain"),
    ("en", "# Heading\n‖Text that follows."),
    ("en", "one\r\n‖\r\ntwo"),
    ("de", "Am 3. Mai kam z. B. Dr. Müller. ‖Er blieb bis zum 19. Jahrhundert."),
    ("de", "Er sagte: „Komm her.“ ‖Dann ging er. ‖Wilhelm II. regierte."),
    ("fr", "« Oui. » ‖Il part, M. Dupont aussi. ‖Qui est-ce ? ‖C'est tout !"),
    ("es", "¿Qué tal? ‖¡Bien! ‖El Sr. Costa y la Dra. Ruiz viven en EE. UU. desde 1990."),
    ("ru", "В 1999 г. он уехал в г. Москва. ‖Это т. е. столица. ‖Да!"),
    ("el", "Τι είναι αυτό; ‖Είναι καλό. ‖Ναι."),
    ("tr", "2. Dünya Savaşı bitti. ‖1999'da geldi. ‖Prof. Dr. Ali sordu."),
    ("vi", "TP. Hồ Chí Minh rất lớn. ‖Tôi ở nhà. ‖Bạn khỏe không?"),
    ("hi", "यह एक है। ‖डॉ. राम आए। ‖ए. पी. जे. कलाम कौन थे? ‖वह वैज्ञानिक थे॥"),
    ("bn", "আমি ভালো আছি। ‖তুমি কেমন আছ?"),
    ("ar", "هل أنت بخير؟ ‖نعم، أنا بخير. ‖د. أحمد هنا."),
    ("ur", "یہ ایک کتاب ہے۔ ‖کیا یہ اچھی ہے؟ ‖ہاں۔"),
    ("fa", "این خوب است. ‖آیا می‌آیی؟ ‖بله!"),
    ("he", "שלום לכולם. ‖מה שלומך? ‖טוב."),
    ("zh", "他说：“我来了。”‖然后走了！‖真的吗？‖是的……但是不行。"),
    ("zh", "你好!‖我是学生。‖价格是3.5元。"),
    ("zh", "仿照了学院建筑。‖（例如这个。）‖完。"),
    ("ja", "「行くよ。」と彼は言った。‖そして行った！‖本当？"),
    ("ko", "나는 학생이다. ‖너는 누구니? ‖할 것. ‖끝."),
    ("th", "สวัสดีครับ ผมชื่อสมชาย ‖\n\nยินดีที่ได้รู้จัก"),
    ("my", "ကျွန်ုပ်သွားသည်။ ‖သူလာသည်။"),
    ("km", "ខ្ញុំទៅផ្សារ។ ‖គាត់មកដល់។"),
    ("am", "ሰላም ነው። ‖እንዴት ነህ፧ ‖ደህና ነኝ።"),
    ("hy", "Բարեւ ձեզ։ ‖Ինչպես եք։"),
    ("bo", "བཀྲ་ཤིས། ‖བདེ་ལེགས།"),
]


def sentences(text: str, lang: str | None = None) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, lang)]


@pytest.mark.parametrize(("lang", "marked"), TABLE, ids=lambda value: value[:24])
def test_sentences_end_where_a_reader_would_end_them(lang, marked):
    pieces = [piece.strip() for piece in marked.split("‖")]
    assert sentences(marked.replace("‖", ""), lang) == [piece for piece in pieces if piece]


def test_without_a_language_a_number_and_a_full_stop_end_a_sentence():
    assert sentences("Das war am 3. Mai.") == ["Das war am 3.", "Mai."]
    assert sentences("Das war am 3. Mai.", "de") == ["Das war am 3. Mai."]


def test_a_line_of_a_list_does_not_go_on_in_the_next():
    text = "apples, pears\nplums\nthe rest of the fruit that we have in store"
    assert sentences(text) == text.split("\n")


def test_thai_is_cut_at_spaces_between_words_and_not_into_short_pieces():
    clause = "ภาษาไทยไม่มีเครื่องหมายวรรคตอนสำหรับจบประโยคและเขียนติดกันโดยไม่เว้นวรรค"
    assert len(clause) > SPACED_LENGTH
    assert sentences(f"{clause} {clause} สั้น") == [clause, f"{clause} สั้น"]
    assert sentences(f"{clause} 2024 {clause}") == [f"{clause} 2024 {clause}"]


PIECES = [
    *(". ", "! ", "? ", "…", "。", "।", "؟ ", ";", "\u037e", "\n", "\r\n", "\n\n", "\u2029", " ", "\t"),
    *("Dr", "e.g", "U.S", "1", "a", "É", "e\u0301", "नि", "東", "ก", "👩‍👩‍👧", "\0", "\x1c", "\ufeff"),
    *('"', "”", "」", ")", "(", "- ", "[1]"),
]


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=60).map("".join))
def test_sentences_are_in_order_and_leave_out_nothing_but_white_space(text):
    spans = sentence_spans(text)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    assert not "".join(text[end:start] for end, start in zip(edges[::2], edges[1::2], strict=True)).strip()
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_sentences_of_a_text_are_the_sentences_of_its_paragraphs(text):
    one = sentences(text.strip())
    assert sentences(f"{text.strip()}\n\n{text.strip()}") == one + one


@pytest.mark.pack
@pytest.mark.parametrize(("lang", "least", "most"), [("en", 850, 890), ("zh", 870, 900), ("hi", 900, 930)])
def test_paragraphs_of_xquad_have_as_many_sentences_in_every_language(shared_data, lang, least, most):
    lines = (shared_data / "xquad" / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["lang"] == lang]
    assert least <= sum(len(sentence_spans(row["text"], lang)) for row in rows) <= most
