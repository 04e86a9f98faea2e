import pytest

from ragstone.kernel.corpus.file import IngestOptions
from ragstone.kernel.corpus.ingest import read_corpus
from ragstone.kernel.corpus.readers.table import documents_of, read_csv, read_jsonl
from ragstone.kernel.files.file import File, Unreadable


def rows(tmp_path, content: str | bytes, name: str = "t.csv", **options):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    file = File(path, name)
    (table,) = (read_csv if name.endswith("csv") else read_jsonl)(file)
    return list(documents_of(table, file, IngestOptions(**options)))


def test_the_text_column_is_found_and_the_rest_is_kept(tmp_path):
    (document,) = rows(tmp_path, "Question,Answer,Class\nHow?,So.,a\n")
    assert (document.id, document.text, document.title) == ("t.csv#1", "So.", "How?")
    assert document.metadata == {"Class": "a"}


def test_without_a_text_column_all_cells_become_lines(tmp_path):
    (document,) = rows(tmp_path, "id,crop,yield\n7,maize,\n8,rice,4\n")[1:]
    assert (document.id, document.text, document.metadata) == ("8", "id: 8\ncrop: rice\nyield: 4", None)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_header_s(tmp_path, delimiter):
    content = f'id{delimiter}text\r\n1{delimiter}"one, two; three{delimiter} four\r\nfive ""six"""\r\n'
    (document,) = rows(tmp_path, content)
    assert (document.id, document.text) == ("1", f'one, two; three{delimiter} four\nfive "six"')


def test_the_first_of_several_text_columns_wins(tmp_path):
    (document,) = rows(tmp_path, "answer,content,text\na,c,t\n")
    assert document.text == "t"
    assert document.metadata == {"answer": "a", "content": "c"}


def test_an_unquoted_delimiter_is_not_cut_off_in_silence(tmp_path, says):
    with pytest.raises(Unreadable) as error:
        rows(tmp_path, "id,text\n1,Hello\n2,Hello, world\n")
    says(error.value)
    with pytest.raises(Unreadable) as error:
        rows(tmp_path, "id,text\n1,Hello, world\n")
    says(error.value)
    with pytest.raises(Unreadable) as error:
        rows(tmp_path, "id,body\n1,Hello, world\n", columns={"text": "body"})
    says(error.value)


def test_columns_without_a_name_are_counted_where_every_row_has_them(tmp_path):
    (document, _) = rows(tmp_path, "1,2\na,b,c\nd,e,f\n")
    assert document.text == "1: a\n2: b\ncolumn 3: c"


def test_an_index_without_a_name_is_left_out_and_a_second_column_of_a_name_is_kept(tmp_path):
    (document,) = rows(tmp_path, ",crop,crop\n0,maize,rice\n")
    assert document.text == "crop: maize\ncrop (2): rice"


def test_the_user_chooses_the_columns(tmp_path):
    content = "Nr,Question,Answer,Topic\n7,How?,So.,x\n8,Why?,,y\n"
    columns = {"id": "nr", "text": ["Question", "Answer"], "title": "Topic"}
    first, second = rows(tmp_path, content, columns=columns)
    assert (first.id, first.text, first.title, first.metadata) == (
        "7",
        "Question: How?\nAnswer: So.",
        "x",
        None,
    )
    assert (second.id, second.text) == ("8", "Question: Why?")
    assert rows(tmp_path, content, columns={"text": "Question"})[0].text == "How?"


def test_a_chosen_column_that_is_not_there_is_named_with_those_that_are(tmp_path, says):
    with pytest.raises(Unreadable) as error:
        rows(tmp_path, "Question,Answer\na,b\n", columns={"text": "Anser"})
    says(error.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "id,text,crop\na,Sow.,rye\nb,,oats\n"),
        ("t.jsonl", '{"id": "a", "text": "Sow."}\n{"id": "b", "text": ""}\n'),
    ],
)
def test_a_row_whose_text_is_blank_is_skipped_and_its_other_cells_are_no_text(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    corpus = read_corpus([tmp_path / name])
    assert [document.text for document in corpus.documents] == ["Sow."]
    assert [(one.path, one.reason) for one in corpus.skipped] == [("b", "it holds no text")]


def test_a_blank_cell_of_the_chosen_text_is_not_replaced_by_another_column(tmp_path):
    (document,) = rows(tmp_path, "Question,Answer\nHow?,\n", columns={"text": "Answer"})
    assert document.text == ""


def test_a_table_as_a_whole_is_a_line_for_each_row(tmp_path):
    (document,) = rows(tmp_path, "crop,yield\nmaize,4\nrice,\n", tables="whole")
    assert (document.id, document.text) == ("t.csv", "crop | yield\nmaize | 4\nrice | ")
    (document,) = rows(tmp_path, '{"a": 1}\n{"b": [2]}\n', "t.jsonl", tables="whole")
    assert document.text == "a | b\n1 | \n | [2]"


def test_broken_quotes_are_named_by_line(tmp_path, says):
    with pytest.raises(Unreadable) as error:
        rows(tmp_path, 'id,text\n1,"Hello" world\n')
    says(error.value)


def test_the_encoding_is_said_in_metadata(tmp_path):
    (document,) = rows(tmp_path, b"text\ncaf\xe9\n")
    assert (document.text, document.metadata) == ("café", {"encoding": "cp1252"})


def test_jsonl_rows_have_their_own_ids_or_the_line_s(tmp_path):
    content = '{"id": 5, "text": "a", "lang": "de", "page": 2}\n\n{"body": "b", "metadata": {"k": [1]}}\n'
    first, second = rows(tmp_path, content, "t.jsonl")
    assert (first.id, first.text, first.lang, first.metadata) == ("5", "a", "de", {"page": 2})
    assert (second.id, second.text, second.metadata) == ("t.jsonl#3", "b", {"k": [1]})
    assert second.source == str(tmp_path / "t.jsonl")


def test_broken_jsonl_names_its_lines(tmp_path, says):
    with pytest.raises(Unreadable) as error:
        rows(tmp_path, '{"text": "a"}\n{"text": \n[1]\n', "t.jsonl")
    says(error.value)


def test_a_header_alone_gives_no_document(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("id,text\n")
    assert [table.rows for table in read_csv(File(file, "a.csv"))] == [[]]


def test_a_table_of_very_many_columns_is_refused(tmp_path, says):
    file = tmp_path / "a.csv"
    file.write_text(",".join("a" * 10_001) + "\n")
    with pytest.raises(Unreadable) as error:
        list(read_csv(File(file, "a.csv")))
    says(error.value)
