import pytest

from ragstone.corpus.decoding import decode
from ragstone.corpus.file import Unreadable


@pytest.mark.parametrize(
    ("content", "text", "encoding"),
    [
        ("naïve ✓".encode(), "naïve ✓", "utf-8"),
        (b"\xef\xbb\xbfhello", "hello", "utf-8"),
        ("hé".encode("utf-16"), "hé", "utf-16"),
        (b"\xfe\xff\x00h\x00i", "hi", "utf-16"),
        (b"caf\xe9 \x80", "café €", "cp1252"),
        (b"a\x81b", "a\ufffdb", "cp1252"),
        (b"", "", "utf-8"),
    ],
)
def test_encodings_are_told_apart(content, text, encoding):
    assert decode(content) == (text, encoding)


def test_line_ends_become_one_kind():
    assert decode(b"a\r\nb\rc\nd")[0] == "a\nb\nc\nd"


def test_html_may_declare_its_encoding():
    russian = '<meta charset="windows-1251"><p>мир</p>'
    assert decode(russian.encode("cp1251"), html=True) == (russian, "cp1251")
    assert decode(russian.encode("cp1251"))[1] == "cp1252"


@pytest.mark.parametrize("declared", ["latin-1", "us-ascii", "utf-16", "nonsense", "base64"])
def test_a_declaration_that_cannot_be_meant_is_cp1252(declared):
    assert decode(f'<meta charset="{declared}">\x80'.encode("latin-1"), html=True)[1] == "cp1252"


@pytest.mark.parametrize("content", [b"\x89PNG\0\0", "hi".encode("utf-16-le"), b"\xff\xfea"])
def test_what_is_no_text_is_said(content):
    with pytest.raises(Unreadable, match=r"it is no text|it begins as UTF-16"):
        decode(content)
