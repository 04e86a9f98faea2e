"""The document that a PDF becomes: text, offsets, titles, and PDFs that give none."""

import random

import pytest
from tests.support.pdf import ITALIC_X, At, Mark, lines, write_pdf

from ragstone.kernel.corpus.readers.pdf.reader import read_pdf
from ragstone.kernel.files.file import File, Unreadable


def read(tmp_path, content: bytes):
    path = tmp_path / "a.pdf"
    path.write_bytes(content)
    (document,) = read_pdf(File(path, "a.pdf"))
    return document


def test_pages_follow_one_another_and_their_starts_are_known(tmp_path):
    pages = [[At(72, 720, "First page.")], [], [At(72, 720, "Third page.")]]
    document = read(tmp_path, write_pdf(pages, title="A title"))
    assert document.text == "First page.\n\n\n\nThird page."
    assert document.title == "A title"
    # "First page." is 11 long, each gap 2, the second page empty: 0, 13, 15.
    assert document.metadata == {"page_starts": [0, 13, 15], "pages_without_text": [2]}


def test_a_paragraph_that_goes_over_a_page_is_one_line_and_the_page_starts_within(tmp_path):
    one = lines(72, 300, "Wheat wants a firm and fine seed bed, and", "the farmer rolls the field after the")
    two = lines(72, 720, "sowing so that the seed meets the soil.", "Then it rains.")
    text = "Wheat wants a firm and fine seed bed, and the farmer rolls the field after the "
    rest = "sowing so that the seed meets the soil. Then it rains."
    document = read(tmp_path, write_pdf([one, two]))
    assert document.text == text + rest
    assert document.metadata["page_starts"] == [0, len(text)]


def test_a_word_that_goes_over_a_page_is_joined_and_a_note_below_it_does_not_part_it(tmp_path):
    one = lines(
        72, 300, "Wheat wants a firm and fine seed bed, and", "the farmer rolls it with care after culti-"
    )
    one += [At(72, 100, "1 A note in small type.", 7)]
    two = lines(72, 720, "vation, so that the seed meets the soil.", "Then it rains on the field.")
    document = read(tmp_path, write_pdf([one, two]))
    note = "1 A note in small type.\n\n"
    before = note + "Wheat wants a firm and fine seed bed, and the farmer rolls it with care after culti"
    assert document.text == before + "vation, so that the seed meets the soil. Then it rains on the field."
    assert document.metadata["page_starts"] == [0, len(before)]


def test_every_page_s_text_begins_at_its_start(tmp_path):
    # The paragraph on page 2 goes on from page 1 and over to page 3; a caption stands above and below it.
    full = "the barley stands high in the field and"
    pages = [
        lines(72, 300, "Early in the summer, when it is warm,", full),
        [At(72, 720, "Table 1. Rain", 8), *lines(72, 650, full, full), At(72, 90, "Table 2. Sun", 8)],
        lines(72, 720, full, "and is ripe."),
    ]
    document = read(tmp_path, write_pdf(pages))
    starts = document.metadata["page_starts"]
    assert starts == sorted(starts)
    assert [document.text[start:].split(" ", 2)[0] for start in starts] == ["Early", "the", "the"]
    assert document.text.count(full) == 4


def test_the_title_is_the_metadata_s_then_the_largest_text_then_the_first_line(tmp_path):
    page = [At(72, 740, "Journal of Rain"), At(72, 700, "On Rain", 20), At(72, 676, "and Wind", 20)]
    page += lines(72, 600, "It rains and it rains on the field.", "The wind blows over all of the fields.")
    assert read(tmp_path, write_pdf([page], title=" Of  rain ")).title == "Of rain"
    assert read(tmp_path, write_pdf([page])).title == "On Rain and Wind"
    assert read(tmp_path, write_pdf([page], title="rain_final.docx")).title == "On Rain and Wind"
    assert read(tmp_path, write_pdf([page], title="Microsoft Word - rain.doc")).title == "On Rain and Wind"
    assert read(tmp_path, write_pdf([[At(72, 720, "First line.")]])).title == "First line."


BODY = ["The field is wide and the wind is strong today.", "It blows from the west, as it mostly does here."]


def test_headings_come_from_the_outline_with_their_offsets_and_levels(tmp_path):
    pages = [
        [At(72, 700, "1 Soil"), *lines(72, 660, *BODY), At(72, 600, "1.1 Clay"), *lines(72, 560, *BODY)],
        [At(72, 700, "2 Rain"), *lines(72, 660, *BODY)],
    ]
    marks = [Mark("Soil", 0), Mark("Clay", 0, 1), Mark("Rain", 1)]
    document = read(tmp_path, write_pdf(pages, marks=marks))
    headings = document.metadata["headings"]
    assert [(one["level"], one["title"]) for one in headings] == [(1, "Soil"), (2, "Clay"), (1, "Rain")]
    found = [document.text[one["start"] :].split("\n", 1)[0] for one in headings]
    assert found == ["1 Soil", "1.1 Clay", "2 Rain"]


def test_without_an_outline_headings_are_what_is_larger_or_bold_and_stands_alone(tmp_path):
    page = [
        At(72, 740, "Soils", 20),
        *lines(72, 700, *BODY),
        At(72, 650, "Clay", 14),
        *lines(72, 620, *BODY),
        At(72, 570, "Wet clay", 10, "B"),
        *lines(72, 550, *BODY),
        At(72, 500, "Bold words, within.", 10, "B"),
        *lines(72, 480, *BODY),
    ]
    document = read(tmp_path, write_pdf([page]))
    headings = document.metadata["headings"]
    # By size: 20, 14, and bold at the size of the text; a sentence in bold ends with a full stop.
    assert [(one["level"], one["title"]) for one in headings] == [(1, "Soils"), (2, "Clay"), (3, "Wet clay")]
    assert all(document.text.startswith(one["title"], one["start"]) for one in headings)


def test_an_outline_that_the_text_does_not_have_is_left_aside(tmp_path):
    page = [At(72, 740, "Soils", 20), *lines(72, 700, *BODY)]
    document = read(tmp_path, write_pdf([page], marks=[Mark("Scan 1", 0), Mark("Scan 2", 0)]))
    assert [one["title"] for one in document.metadata["headings"]] == ["Soils"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (write_pdf([[], []]), "it holds no text, only images"),
        (b"not a pdf", "it is not a PDF, or is a damaged one"),
        (b"", "it is not a PDF, or is a damaged one"),
        (write_pdf([[At(72, 720, "secret")]], encrypted=True), "it is encrypted"),
    ],
)
def test_a_pdf_that_gives_no_text_says_why(tmp_path, content, reason):
    with pytest.raises(Unreadable, match=reason):
        read(tmp_path, content)


def test_a_page_that_cannot_be_loaded_is_named_and_the_others_are_read(tmp_path):
    content = write_pdf([[At(72, 720, "One.")], [At(72, 720, "Two.")], [At(72, 720, "Three.")]])
    document = read(tmp_path, content.replace(b"[5 0 R 7 0 R 9 0 R]", b"[5 0 R 1 0 R 9 0 R]", 1))
    assert document.text == "One.\n\n\n\nThree."
    assert document.metadata["damaged_pages"] == [2]


def test_a_file_that_was_cut_or_changed_anywhere_is_read_or_unreadable(tmp_path):
    whole = write_pdf([[At(72, 720, "One page."), *lines(72, 650, *BODY)], lines(72, 650, *BODY)], title="A")
    random_of = random.Random(4)
    for number in range(60):
        content = bytearray(whole[: random_of.randrange(len(whole))] if number % 2 else whole)
        for _ in range(random_of.randrange(12)):
            content[random_of.randrange(len(content)) : 0] = bytes([random_of.randrange(256)])
        try:
            document = read(tmp_path, bytes(content))
        except Unreadable:
            continue
        assert all(0 <= start <= len(document.text) for start in document.metadata["page_starts"])


def test_text_that_stands_on_its_side_is_upright_where_most_of_the_page_does(tmp_path):
    turned = [At(100 + 12 * n, 100, line, turn=True) for n, line in enumerate(BODY)]
    document = read(tmp_path, write_pdf([turned]))
    assert document.text == " ".join(BODY)
    document = read(tmp_path, write_pdf([turned], rotate=90))
    assert document.text == " ".join(BODY)
    document = read(tmp_path, write_pdf([[*lines(72, 700, *BODY, *BODY), At(40, 300, "Draft", turn=True)]]))
    assert document.text == " ".join(BODY * 2) + "\n\nDraft"


def test_characters_beyond_the_first_plane_shift_nothing(tmp_path):
    # PDFium counts them twice; what comes after them must not be looked for at the wrong places.
    page = [At(72, 700, "x", font="M"), At(84, 700, "is the rain,"), At(160, 700, "xx", font="M")]
    page += [At(180, 700, "the sun,"), At(72, 640, "and the rest follows here.")]
    expected = f"{ITALIC_X} is the rain, {ITALIC_X}{ITALIC_X} the sun,\n\nand the rest follows here."
    assert read(tmp_path, write_pdf([page])).text == expected


def test_text_beyond_any_page_or_without_a_size_does_no_harm(tmp_path):
    page = [At(72, 700, "The field."), At(1_000_000, 700, "Far away."), At(72, 600, "Dust", size=1e-9)]
    document = read(tmp_path, write_pdf([page]))
    assert document.text.startswith("The field.")
    assert "Far away" not in document.text
