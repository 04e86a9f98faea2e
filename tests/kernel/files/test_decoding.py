import pytest

from ragstone.kernel.files.decoding import decode
from ragstone.kernel.files.file import Unreadable
from ragstone.kernel.records import Document
from ragstone.kernel.tables import read_rows


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
        ("hé\nwo".encode("utf-32"), "hé\nwo", "utf-32"),
        ("hé, wörld".encode("utf-16-le"), "hé, wörld", "utf-16-le"),
        ("hé, wörld".encode("utf-16-be"), "hé, wörld", "utf-16-be"),
        ("日本語のテキスト".encode("iso2022_jp"), "日本語のテキスト", "iso2022_jp"),
    ],
)
def test_encodings_are_told_apart(content, text, encoding):
    assert decode(content) == (text, encoding)


def test_line_ends_become_one_kind():
    assert decode(b"a\r\nb\rc\nd")[0] == "a\nb\nc\nd"


def test_html_may_declare_its_encoding():
    russian = '<meta charset="windows-1251"><p>мир</p>'
    assert decode(russian.encode("cp1251"), html=True) == (russian, "cp1251")
    assert decode('<meta charset="cp1250">café'.encode("cp1250"), html=True)[1] == "cp1250"


@pytest.mark.parametrize("declared", ["latin-1", "us-ascii", "utf-16", "nonsense", "base64"])
def test_a_declaration_that_cannot_be_meant_is_cp1252(declared):
    assert decode(f'<meta charset="{declared}">\x80'.encode("latin-1"), html=True)[1] == "cp1252"


@pytest.mark.parametrize("content", [b"\x89PNG\0\0", b"\xff\xfea", b"a\x01\x02\x03\x04", b"\0" * 99])
def test_what_is_no_text_is_said(content, says):
    with pytest.raises(Unreadable) as error:
        decode(content)
    says(error.value)


SENTENCES = {
    "cp1251": "Озимую пшеницу сеют в октябре.",
    "koi8-r": "Озимую пшеницу сеют в октябре.",
    "cp1250": "Pszenicę ozimą wysiewa się w październiku, gdy gleba jest jeszcze ciepła.",
    "iso8859-2": "Pszenicę ozimą wysiewa się w październiku, gdy gleba jest jeszcze ciepła.",
    "cp1253": "Το σιτάρι σπέρνεται τον Οκτώβριο.",
    "cp1254": "Kışlık buğday ekim ayında ekilir ve yağışlı günlerde büyür.",
    "cp1256": "يزرع القمح الشتوي في أكتوبر.",
    "cp874": "ข้าวสาลีฤดูหนาวหว่านในเดือนตุลาคม",
    "cp932": "冬小麦は十月に播かれます。",
    "euc_jp": "冬小麦は十月に播かれます。",
    "gb18030": "冬小麦在十月播种。",
    "big5": "冬小麥在十月播種。",
    "cp949": "겨울밀은 시월에 파종합니다.",
}


@pytest.mark.parametrize("encoding", SENTENCES)
def test_a_sentence_in_a_legacy_encoding_is_read(encoding):
    text, named = decode(SENTENCES[encoding].encode(encoding))
    assert text == SENTENCES[encoding]
    assert named != "utf-8"


@pytest.mark.parametrize(
    "text",
    ["Der Mais wächst über Nacht.", "El maíz crece más aquí.", "Le maïs a été semé.", "“It’s naïve”", "café"],
)
def test_western_text_is_cp1252_as_ever(text):
    assert decode(text.encode("cp1252")) == (text, "cp1252")


def test_lines_in_two_encodings_are_each_read_in_their_own():
    lines = ["naïve ✓", "plain", "café crème"]
    content = b"\n".join([lines[0].encode(), lines[1].encode(), lines[2].encode("cp1252")])
    assert decode(content) == ("\n".join(lines), "utf-8 and cp1252")


def test_a_stray_byte_does_not_turn_a_file_of_utf_8_into_another():
    content = "Größe, Länge, Höhe und Breite für Äcker: ".encode() + b"\xe9."
    assert decode(content) == ("Größe, Länge, Höhe und Breite für Äcker: é.", "utf-8 and cp1252")
    declared = b'<meta charset="windows-1252">' + content
    assert decode(declared, html=True)[1] == "utf-8 and cp1252"


@pytest.mark.pack
@pytest.mark.parametrize(
    ("lang", "encoding"),
    [
        ("ru", "cp1251"),
        ("zh", "gb18030"),
        ("de", "cp1252"),
        ("es", "cp1252"),
        ("ar", "cp1256"),
        ("th", "cp874"),
    ],
)
def test_heads_of_paragraphs_are_read_in_legacy_encodings(shared_data, lang, encoding):
    documents = read_rows(shared_data / "xquad" / "documents.jsonl", Document)
    texts = [one.text[:150] for one in documents if one.lang == lang][:100]
    contents = [content for text in texts if not (content := text.encode(encoding, "ignore")).isascii()]
    assert len(contents) > 80
    assert [decode(content)[0] for content in contents] == [content.decode(encoding) for content in contents]
