"""Frequently asked questions: tables and pages."""

import pytest

from ragstone import DataError
from ragstone.features.import_.importing import import_set


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        (tmp_path / name).write_text(content)
        return tmp_path / name

    return written


def pairs(found):
    texts = {document.id: document for document in found.documents}
    for question in found.questions:
        (name,) = question.document_ids
        (evidence,) = question.evidence
        assert texts[name].text[evidence.start : evidence.end] == texts[name].text == question.reference
        assert texts[name].title == question.question
        assert question.answerable is True
        assert question.id == name
    return [(question.question, question.reference) for question in found.questions]


def test_a_row_is_a_document_and_a_question(write, says):
    path = write("faq.csv", "Question,Answer,Class\nWhen?,In May.,crops\nHow?,,crops\nWhere?,Here.,crops\n")
    found = import_set(path, format="faq", columns={"tags.class": "Class"})
    assert pairs(found) == [("When?", "In May."), ("Where?", "Here.")]
    assert [document.id for document in found.documents] == ["faq.csv#1", "faq.csv#3"]
    assert found.questions[0].tags == {"class": "crops"}
    says([one.reason for one in found.summary.remarks])


def test_rows_keep_their_ids_and_other_columns_go_to_the_document(write):
    path = write("faq.jsonl", '{"id": 7, "question": "When?", "answer": "In May.", "page": 3}')
    found = import_set(path, format="faq")
    assert pairs(found) == [("When?", "In May.")]
    assert found.documents[0].id == "7"
    assert found.documents[0].metadata == {"page": 3}


def test_without_the_format_a_sheet_has_questions_alone(write):
    found = import_set(write("faq.csv", "Question,Answer\nWhen?,In May.\n"))
    assert found.documents == []


PAGE = """# Growing wheat

Welcome.

## When is wheat sown?

In October.

### On heavy soil

A week earlier.

## Storage

### How dry must it be?
Fourteen percent.

### Wird es kalt gelagert？

**Is it sprayed?**

No.
"""


def test_headings_that_ask_are_questions_and_what_is_under_them_answers(write, says):
    found = import_set(write("faq.md", PAGE))
    assert pairs(found) == [
        ("When is wheat sown?", "In October.\n\n### On heavy soil\n\nA week earlier."),
        ("How dry must it be?", "Fourteen percent."),
        ("Is it sprayed?", "No."),
    ]
    assert [question.tags for question in found.questions] == [
        {"section": "Growing wheat"},
        {"section": "Growing wheat > Storage"},
        {"section": "Growing wheat > Storage"},
    ]
    for remark in found.summary.remarks:
        says(f"{remark.kind}: {remark.reason} ({', '.join(remark.places)})")


def test_underlined_headings_ask_too(write):
    found = import_set(write("faq.md", "When?\n-----\n\nIn May.\n\nWhere?\n------\nHere.\n"))
    assert pairs(found) == [("When?", "In May."), ("Where?", "Here.")]


def test_a_page_of_html_is_read_by_its_headings(write):
    pytest.importorskip("selectolax")
    html = "<html><body><nav>Menu</nav><h1>FAQ</h1><h2>When?</h2><p>In May.</p><p>Or June.</p></body></html>"
    found = import_set(write("faq.html", html))
    assert pairs(found) == [("When?", "In May.\n\nOr June.")]


@pytest.mark.parametrize(
    "text",
    [
        "Q: When is it?\nA: In May.\nOr in June.\n\nQ: Where is it?\nA: Here.\n",
        "**Q1:** When is it?\n\n**A1:** In May.\nOr in June.\n\n**Q2:** Where is it?\n\n**A2:** Here.\n",
        "**Q: When is it?**\nA: In May.\nOr in June.\n**Q: Where is it?**\nA: Here.",
        "Q. When is it?\nA. In May.\nOr in June.\nQ. Where is it?\nA. Here.",
        "Frage: When is it?\nAntwort: In May.\nOr in June.\nFrage: Where is it?\nAntwort: Here.\n",
        "问：When is it?\n答：In May.\nOr in June.\n问：Where is it?\n答：Here.\n",
    ],
)
def test_lines_with_labels_are_questions_and_answers(write, text):
    found = import_set(write("faq.txt", text))
    assert pairs(found) == [("When is it?", "In May.\nOr in June."), ("Where is it?", "Here.")]


def test_a_question_over_several_lines_and_one_without_an_answer(write):
    found = import_set(write("faq.txt", "Preface.\nQ: When\nis it?\nA: In May.\nQ: And then?\n"))
    assert pairs(found) == [("When is it?", "In May.")]
    assert [(one.kind, one.n) for one in found.summary.remarks] == [("left_out", 1), ("skipped", 1)]


def test_items_of_a_list_are_no_answers(write):
    found = import_set(write("faq.txt", "Q: Which?\nA: These:\na. One.\nb. Two.\n"))
    assert pairs(found) == [("Which?", "These:\na. One.\nb. Two.")]


def test_a_page_without_a_question_is_an_error(write, says):
    with pytest.raises(DataError) as error:
        import_set(write("page.md", "# Wheat\n\nWheat is sown.\n"))
    says(error.value)
