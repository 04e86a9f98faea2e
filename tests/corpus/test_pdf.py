import pytest

from ragstone.corpus.file import File, Unreadable
from ragstone.corpus.pdf import read_pdf


def make_pdf(*pages: str, title: str = "", password: bool = False) -> bytes:
    """Return a PDF with one line of Helvetica a page; a blank page for ""."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, line in enumerate(pages):
        drawing = f"BT /F 12 Tf 72 720 Td ({line}) Tj ET" if line else ""
        objects += [
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F 3 0 R >> >> /Contents {5 + 2 * n} 0 R >>",
            f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream",
        ]
    objects.append(f"<< /Title ({title}) >>")
    body, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    encrypted = f" /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'41' * 32}> /U <{'42' * 32}> >>"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = f"/Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R"
    trailer += f"{encrypted} /ID [<01> <01>]" if password else ""
    return (
        f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer\n<< {trailer} >>\nstartxref\n{len(body)}\n%%EOF"
    ).encode("latin-1")


def read(tmp_path, content: bytes):
    path = tmp_path / "a.pdf"
    path.write_bytes(content)
    return list(read_pdf(File(path, "a.pdf")))


def test_pages_follow_one_another_and_their_starts_are_known(tmp_path):
    (document,) = read(tmp_path, make_pdf("First page.", "", "Third page.", title="A title"))
    assert document.text == "First page.\n\n\n\nThird page."
    assert document.title == "A title"
    # "First page." is 11 long, each gap 2, the second page empty: 0, 13, 15.
    assert document.metadata == {"page_starts": [0, 13, 15], "pages_without_text": [2]}


def test_without_a_title_the_first_line_is_it(tmp_path):
    (document,) = read(tmp_path, make_pdf("First line."))
    assert document.title == "First line."


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (make_pdf("", ""), "it holds no text, only images"),
        (b"not a pdf", "it is no PDF or a damaged one"),
        (b"", "it is no PDF or a damaged one"),
        (make_pdf("secret", password=True), "it is encrypted"),
    ],
)
def test_a_pdf_that_gives_no_text_says_why(tmp_path, content, reason):
    with pytest.raises(Unreadable, match=reason):
        read(tmp_path, content)
