import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.dataset.fictional.fiction import fictionalise
from ragstone.records import Document, Evidence, Question, references
from ragstone.tables import read_rows

CANAL = (
    "The canal of Oslo was dug by Marie Curie in 1874 and widened in 1901. Curie paid 15% of the cost, some "
    "$12,500. Her brother, Jean Curie, sold 240 acres to the Oslo council on 14 March 1899."
)


def document(text=CANAL, name="d", **fields):
    return Document(id=name, text=text, lang="en", **fields)


def asked(question, reference=None, quote=None, text=CANAL, **fields):
    start = text.index(quote) if quote else 0
    spans = [Evidence(document_id="d", start=start, end=start + len(quote))] if quote else None
    return Question(id="q", question=question, reference=reference, evidence=spans, lang="en", **fields)


def only(fiction):
    (document,), (question,) = fiction.documents, fiction.questions
    return document, question


def test_names_years_and_numbers_follow_in_question_reference_and_evidence():
    row = asked("Who dug the canal of Oslo in 1874?", "Marie Curie", "dug by Marie Curie in 1874")
    fiction = fictionalise([document()], [row], seed=1)
    changed, question = only(fiction)
    swaps = fiction.swaps
    marie, curie, oslo = swaps["Marie"], swaps["Curie"], swaps["Oslo"]
    year = swaps["1874"]
    assert question.question == f"Who dug the canal of {oslo} in {year}?"
    assert question.reference == f"{marie} {curie}"
    (span,) = question.evidence
    assert changed.text[span.start : span.end] == f"dug by {marie} {curie} in {year}"
    assert changed.text.count(curie) == 3
    assert not re.search(r"Oslo|Curie|Marie|Jean|1874|1901|1899|240|12,500|15%", changed.text)


def test_years_keep_their_order_and_distance_and_days_their_month():
    changed = fictionalise([document()], [], seed=2).documents[0].text
    first, second, third = (int(year) for year in re.findall(r"\d{4}", changed))
    assert (second - first, third - second) == (1901 - 1874, 1899 - 1901)
    assert f"on 14 March {third}" in changed


def test_a_possessive_a_plural_and_capitals_are_the_same_name():
    text = "In Oslo the Normans met. A Norman's house in Oslo's centre, near NORMANDY and Normandy, burnt."
    fiction = fictionalise([document(text)], [], seed=1)
    swaps, changed = fiction.swaps, fiction.documents[0].text
    assert f"A {swaps['Norman']}'s house in {swaps['Oslo']}'s" in changed
    assert swaps["Normans"] == swaps["Norman"] + "s"
    assert f"near {swaps['Normandy'].upper()} and {swaps['Normandy']}" in changed


def test_a_name_in_small_letters_in_a_question_is_the_name():
    fiction = fictionalise([document()], [asked("who was curie of oslo", "Curie")], seed=1)
    swaps = fiction.swaps
    assert fiction.questions[0].question == f"who was {swaps['Curie'].lower()} of {swaps['Oslo'].lower()}"


def test_a_name_of_common_words_is_swapped_as_a_whole_and_keeps_what_it_is():
    text = (
        "Teams met in the Super Bowl. The bowl was super. " + "Later the Super Bowl was moved to Oslo. " * 3
    )
    fiction = fictionalise([document(text)], [], seed=1)
    (new,) = [new for old, new in fiction.swaps.items() if old == "Super Bowl"]
    assert new.endswith(" Bowl")
    assert fiction.documents[0].text.count(new) == 4
    assert "The bowl was super." in fiction.documents[0].text


def test_common_words_months_titles_terms_and_code_are_left_alone():
    text = (
        "On Monday in March President Ada met the PIN office. However, she used `Phoenix` and Phoenix 1.7.2 "
        "at https://oslo.no/Ada/2015 with MP3 and COVID-19, 5 times, at 10:30 on the 21st, for 1/2 of it."
    )
    fiction = fictionalise([document(text)], [], seed=1)
    assert fiction.swaps.keys() == {"Ada"}
    assert fiction.documents[0].text == text.replace("Ada met", f"{fiction.swaps['Ada']} met")


def test_source_code_is_left_alone():
    code = document("def Oslo(): return 2015  # of Oslo", source="lib/oslo.py")
    fiction = fictionalise([code], [], seed=1)
    assert fiction.documents[0] == code


def test_given_names_are_swapped_in_scripts_without_capitals_and_their_parts_follow():
    text = "玛丽·居里在华沙出生。居里1903年获奖。"
    row = Question(id="q", question="居里在哪里出生？", reference="华沙", document_ids=["d"], lang="zh")
    fiction = fictionalise(
        [Document(id="d", text=text, lang="zh")], [row], seed=1, names=["玛丽·居里", "华沙"]
    )
    swaps = fiction.swaps
    assert swaps.keys() == {"玛丽", "居里", "华沙", "1903"}
    assert fiction.questions[0].question == f"{swaps['居里']}在哪里出生？"
    assert fiction.questions[0].reference == swaps["华沙"]
    assert (
        fiction.documents[0].text
        == f"{swaps['玛丽']}·{swaps['居里']}在{swaps['华沙']}出生。{swaps['居里']}{swaps['1903']}年获奖。"
    )


def test_given_names_are_whole_words_where_words_have_spaces():
    text = "दिल्ली में राम रहता है। रामायण पुरानी है।"
    fiction = fictionalise([Document(id="d", text=text, lang="hi")], [], seed=1, names=["राम", "दिल्ली"])
    assert fiction.swaps.keys() == {"राम", "दिल्ली"}
    assert "रामायण" in fiction.documents[0].text


def test_a_given_name_of_common_words_is_swapped_as_a_phrase():
    text = "In spring we met at little mill. A little mill is small."
    fiction = fictionalise([document(text)], [], seed=1, names=["little mill"])
    assert fiction.documents[0].text.count(fiction.swaps["little mill"]) == 2


def test_german_nouns_are_no_names_but_two_words_in_a_row_are():
    text = "Der Hafen liegt an der Küste. Dort traf der Kaufmann Jens Petersen den Fischer. Jens Petersen aß."
    fiction = fictionalise([Document(id="d", text=text, lang="de")], [], seed=1)
    assert fiction.swaps.keys() >= {"Jens", "Petersen"}
    assert "Der Hafen liegt an der Küste." in fiction.documents[0].text


def test_titles_headings_and_page_starts_follow():
    text = "In Oslo it rains. In Oslo it snows.\n\nOslo and rain\n\nIt rains in Oslo since 1901."
    second, third = text.index("Oslo and"), text.index("It rains in")
    metadata = {
        "headings": [{"start": second, "level": 2, "title": "Oslo and rain"}],
        "page_starts": [0, third],
        "pages": 2,
    }
    fiction = fictionalise([document(text, title="Rain in Oslo", metadata=metadata)], [], seed=1)
    changed, oslo = fiction.documents[0], fiction.swaps["Oslo"]
    assert changed.title == f"Rain in {oslo}"
    (heading,) = changed.metadata["headings"]
    assert heading["title"] == f"{oslo} and rain"
    assert changed.text[heading["start"] :].startswith(f"{oslo} and rain")
    assert changed.text[changed.metadata["page_starts"][1] :].startswith("It rains in")
    assert changed.metadata["pages"] == 2


def test_notes_of_a_question_follow_or_are_dropped():
    row = asked(
        "Who was Curie of Oslo?", "Curie",
        tags={"style": "factoid", "closed_book": "known"},
        metadata={
            "quote": "Curie paid 15%",
            "closed_book": {"answer": "Curie", "correct": True},
            "rationales": {"groundedness": "Curie is named."},
            "tempting": {"document_id": "d", "start": CANAL.index("Curie paid"), "end": CANAL.index(" 15%")},
            "document_ids": ["Oslo-1874"],
        },
    )  # fmt: skip
    changed, question = only(fictionalise([document()], [row], seed=1))
    assert question.tags == {"style": "factoid"}
    assert question.metadata.keys() == {"quote", "tempting", "document_ids"}
    assert question.metadata["quote"] in changed.text
    tempting = question.metadata["tempting"]
    assert changed.text[tempting["start"] : tempting["end"]].endswith(" paid")
    assert question.metadata["document_ids"] == ["Oslo-1874"]


def test_a_question_without_evidence_or_answer_keeps_its_form():
    row = Question(id="q", question="Who was Curie?", reference=["Curie", "Marie"], answerable=False)
    _, question = only(fictionalise([document()], [row], seed=1))
    assert isinstance(question.reference, list)
    assert question.evidence is None
    bare = Question(id="q", question="Who was Curie?")
    assert only(fictionalise([document()], [bare], seed=1))[1].reference is None


def test_evidence_outside_the_documents_is_an_error():
    span = Evidence(document_id="elsewhere", start=0, end=1)
    with pytest.raises(ValueError, match="'elsewhere', which is not among the documents"):
        fictionalise([document()], [Question(id="q", question="?", evidence=[span])], seed=1)


def test_the_seed_decides_and_the_order_of_documents_does_not():
    rows = [document(), document("In Bergen and Oslo lives Ada Holm since 1950.", "e")]
    fiction = fictionalise(rows, [], seed=1)
    assert fictionalise(rows, [], seed=1) == fiction
    assert fictionalise(rows[::-1], [], seed=1).swaps == fiction.swaps
    assert fictionalise(rows, [], seed=4).swaps != fiction.swaps


@given(st.lists(st.text(max_size=60), max_size=4), st.lists(st.text(max_size=8), max_size=3))
def test_any_texts_are_survived_and_swapped_alike(texts, names):
    rows = [document(text, str(number)) for number, text in enumerate([*texts, *texts])]
    fiction = fictionalise(rows, [], seed=1, names=names)
    now = [row.text for row in fiction.documents]
    assert now[: len(texts)] == now[len(texts) :]


WORDS = [
    *("Oslo", "Oslos", "Marie", "Curie", "Normandy", "Norman", "the", "in", "of", "paid", "1874", "2015"),
    *("15%", "12,500", "240", "New York", "Super Bowl", "super", "bowl", "7", "`Oslo`", "May 14,", "."),
]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30), st.data())
def test_evidence_holds_the_swapped_text_and_the_answer_stays_in_it(words, data):
    text = " ".join(words)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first = data.draw(st.integers(start, end - 1))
    last = data.draw(st.integers(first + 1, end))
    row = Question(
        id="q", question=f"Is it {text[first:last]}?", reference=text[first:last],
        evidence=[Evidence(document_id="d", start=start, end=end)],
    )  # fmt: skip
    fiction = fictionalise([document(text)], [row], seed=3)
    changed, question = only(fiction)
    (span,) = question.evidence
    shown = changed.text[span.start : span.end]
    assert question.reference in shown or not question.reference.strip()
    assert span.start < span.end
    for old, new in fiction.swaps.items():
        assert old != new
        assert new not in text.split()


@pytest.mark.pack
@pytest.mark.parametrize(
    ("pack", "lang", "swapped"), [("xquad", "en", 0.9), ("xquad", "ru", 0.9), ("squad2", "en", 0.9)]
)
def test_answers_stay_in_their_evidence_and_most_documents_change(shared_data, pack, lang, swapped):
    documents = [
        row for row in read_rows(shared_data / pack / "documents.jsonl", Document) if row.lang == lang
    ]
    texts = {row.id: row.text for row in documents}
    questions = []
    for row in read_rows(shared_data / pack / "questions.jsonl", Question):
        if row.lang != lang:
            continue
        quote = next((one for one in references(row) if one in texts[row.document_ids[0]]), None)
        if quote is not None:
            start = texts[row.document_ids[0]].index(quote)
            span = Evidence(document_id=row.document_ids[0], start=start, end=start + len(quote))
            questions.append(Question(id=row.id, question=row.question, reference=quote, evidence=[span]))
    fiction = fictionalise(documents, questions, seed=1)
    now = {row.id: row.text for row in fiction.documents}
    for row in fiction.questions:
        (span,) = row.evidence
        assert row.reference in now[span.document_id][span.start : span.end]
    assert sum(now[name] != text for name, text in texts.items()) >= 0.9 * len(texts)
    vocabulary = {word for text in texts.values() for word in re.findall(r"\w+", text)}
    assert not [new for old, new in fiction.swaps.items() if old.isalpha() and new in vocabulary]
