"""TREC's topics, qrels and documents."""

import pytest

from ragstone import ConfigError, DataError
from ragstone.features.import_._trec import _plain
from ragstone.features.import_.importing import import_set

TOPICS = """<top>
<num> Number: 301
<title> International Organized Crime
<desc> Description:
Identify organizations that participate in
international criminal activity.
<narr> Narrative:
A relevant document names one &amp; its country.
</top>

<top>
<num> Number: 302
<title> Poliomyelitis and Post-Polio
</top>
"""
QRELS = "301 0 FT-1 1\n301 0 FT-2 0\n302 0 FT-2 2\n"
SGML = """<DOC>
<DOCNO> FT-1 </DOCNO>
<HEADLINE>Crime &amp; its
 friends</HEADLINE>
<TEXT>
First <B>words</B>.
</TEXT>
</DOC>
<DOC>
<DOCNO>FT-2</DOCNO>
<TEXT>One.</TEXT>
<TEXT>Two.</TEXT>
</DOC>
"""


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        (tmp_path / name).write_text(content)
        return tmp_path / name

    return written


def test_topics_qrels_and_documents_make_one_set(write):
    sources = [write("topics.txt", TOPICS), write("docs.sgml", SGML), write("qrels.txt", QRELS)]
    found = import_set(sources)
    assert set(found.summary.formats.values()) == {"trec"}
    first, second = found.questions
    assert (first.id, first.question, first.document_ids) == (
        "301",
        "International Organized Crime",
        ["FT-1"],
    )
    assert (
        first.metadata["desc"]
        == "Identify organizations that participate in international criminal activity."
    )
    assert first.metadata["narr"] == "A relevant document names one & its country."
    assert second.document_ids == ["FT-2"]
    assert found.qrels == {"301": {"FT-1": 1, "FT-2": 0}, "302": {"FT-2": 2}}
    assert [(one.id, one.title, one.text) for one in found.documents] == [
        ("FT-1", "Crime & its friends", "First  words ."),
        ("FT-2", None, "One.\n\nTwo."),
    ]


def test_the_description_asks_if_a_column_says_so(write, says):
    found = import_set(write("topics.txt", TOPICS), columns={"question": "desc"})
    assert [question.id for question in found.questions] == ["301"]
    assert found.questions[0].question.startswith("Identify")
    assert found.questions[0].metadata["title"] == "International Organized Crime"
    with pytest.raises(DataError) as error:
        import_set(write("topics.txt", TOPICS), columns={"question": "summary"})
    says(error.value)


def test_topics_of_later_years(write):
    topic = (
        '<topic number="1">\n<query>coronavirus origin</query>\n<question>where from?</question>\n</topic>'
    )
    topics = f"<topics>\n{topic}\n</topics>"
    (question,) = import_set(write("topics.xml", topics)).questions
    assert (question.id, question.question) == ("1", "coronavirus origin")


def test_lines_of_an_id_and_a_question(write):
    found = import_set(
        [write("queries.tsv", "1\twhat is it\n2\tand where\nbroken\n"[:-7]), write("q.qrels", "1 0 d 1\n")]
    )
    assert [(one.id, one.question, one.document_ids) for one in found.questions] == [
        ("1", "what is it", ["d"]),
        ("2", "and where", None),
    ]


def test_a_table_with_tabs_is_no_file_of_trec(write):
    found = import_set(write("q.tsv", "id\tquestion\n1\twhat is it\n"))
    assert [one.question for one in found.questions] == ["what is it"]
    assert list(found.summary.formats.values()) == ["table"]


def test_qrels_alone_are_no_questions(write, says):
    with pytest.raises(DataError) as error:
        import_set(write("qrels.txt", QRELS))
    says(error.value)
    with pytest.raises(ConfigError) as error:
        import_set(write("qrels.txt", QRELS), columns={"id": "x"})
    says(error.value)


def test_qrels_label_any_table(write):
    found = import_set([write("q.csv", "id,question\n301,What?\n"), write("qrels.txt", QRELS)])
    assert found.questions[0].document_ids == ["FT-1"]


def test_broken_files_are_told(write, says):
    with pytest.raises(DataError) as error:
        import_set([write("t.txt", TOPICS), write("docs.sgml", SGML[: SGML.rindex("</DOC>")])])
    says(error.value)
    with pytest.raises(DataError) as error:
        import_set(write("a.txt", "Some prose.\n"), format="trec")
    says(error.value)
    found = import_set(write("t.txt", TOPICS[: TOPICS.rindex("</top>")]))
    says([one.reason for one in found.summary.remarks])
    found = import_set(
        [write("t2.txt", TOPICS), write("d.sgml", SGML + "<DOC>\n<TEXT>x</TEXT>\n</DOC>\n<DOCNO>")]
    )
    says([one.reason for one in found.summary.remarks])


def test_signs_of_less_and_more_are_no_tags():
    assert _plain("If 3 < a and b > 5, <b>sow</b> &lt;now&gt;.") == "If 3 < a and b > 5,  sow  <now>."
    assert _plain("<< Bank's name >> pays") == "<< Bank's name >> pays"
