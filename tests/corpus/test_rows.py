import pytest

from ragstone.corpus.file import File, Unreadable
from ragstone.corpus.rows import read_csv, read_jsonl


def rows(tmp_path, content: str | bytes, name: str = "t.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list((read_csv if name.endswith("csv") else read_jsonl)(File(path, name)))


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


def test_an_unquoted_delimiter_is_not_cut_off_in_silence(tmp_path):
    with pytest.raises(Unreadable, match="line 2 has more cells than the header"):
        rows(tmp_path, "id,text\n1,Hello, world\n")


def test_broken_quotes_are_named_by_line(tmp_path):
    with pytest.raises(Unreadable, match="line 2 is no CSV"):
        rows(tmp_path, 'id,text\n1,"Hello" world\n')


def test_the_encoding_is_said_in_metadata(tmp_path):
    (document,) = rows(tmp_path, b"text\ncaf\xe9\n")
    assert (document.text, document.metadata) == ("café", {"encoding": "cp1252"})


def test_jsonl_rows_have_their_own_ids_or_the_line_s(tmp_path):
    content = '{"id": 5, "text": "a", "lang": "de", "page": 2}\n\n{"body": "b", "metadata": {"k": [1]}}\n'
    first, second = rows(tmp_path, content, "t.jsonl")
    assert (first.id, first.text, first.lang, first.metadata) == ("5", "a", "de", {"page": 2})
    assert (second.id, second.text, second.metadata) == ("t.jsonl#3", "b", {"k": [1]})
    assert second.source == str(tmp_path / "t.jsonl")


def test_broken_jsonl_names_its_lines(tmp_path):
    with pytest.raises(Unreadable, match=r"line 2 is no JSON object .*; line 3 is no JSON object"):
        rows(tmp_path, '{"text": "a"}\n{"text": \n[1]\n', "t.jsonl")
