"""Authors and notes in the margin, which go to the metadata, and what looks like them and stays."""

import pytest
from tests.support.pdf import At, lines, read_pages

BODY = [
    "The field is wide and the wind is strong today, and it will be stronger still",
    "in the night, so that the farmer brings in what stands outside and then waits",
    "for the rain, which comes late in the year and is what the seed needs to grow.",
]
PROSE = " ".join(BODY)
TITLE = [At(72, 740, "On Rain and Wind", 20)]
NAMES = [
    At(72, 700, "Ann Smith"),
    At(121, 704, "1", 6),
    At(125, 700, ", Bob Miller"),
    At(180, 704, "2", 6),
    At(184, 700, ", and Carl Brown"),
    At(262, 704, "1", 6),
]
ADDRESSES = [
    At(72, 680, "1", 6),
    At(78, 676, "Institute of Rain, Hill University"),
    At(72, 668, "2", 6),
    At(78, 664, "Wind Consulting"),
]
FRONT = (
    "Ann Smith 1 , Bob Miller 2 , and Carl Brown 1\n\n1 Institute of Rain, Hill University\n2 Wind Consulting"
)


def test_authors_and_addresses_with_the_same_raised_signs_go_to_the_metadata(tmp_path):
    document = read_pages(
        tmp_path, [*TITLE, *NAMES, *ADDRESSES, At(72, 630, "Summary", 14), *lines(72, 600, *BODY)]
    )
    assert document.text == f"On Rain and Wind\n\nSummary\n\n{PROSE}"
    assert document.metadata["front_matter"] == FRONT
    assert [one["title"] for one in document.metadata["headings"]] == ["On Rain and Wind", "Summary"]


def test_a_subtitle_above_the_authors_stays(tmp_path):
    page = [*TITLE, At(72, 720, "A study of 2 fields", 12), *NAMES, *ADDRESSES, *lines(72, 600, *BODY)]
    document = read_pages(tmp_path, page)
    assert document.text == f"On Rain and Wind\n\nA study of 2 fields\n\n{PROSE}"
    assert document.metadata["front_matter"] == FRONT


@pytest.mark.parametrize("mark", ["ann@hill.example", "{ann,bob}@hill.example", "0000-0002-1825-0097"])
def test_authors_with_an_email_address_or_orcid_before_an_abstract_go_to_the_metadata(tmp_path, mark):
    page = [*TITLE, *lines(72, 700, "Ann Smith", "Hill University", mark), At(72, 630, "Abstract", 14)]
    document = read_pages(tmp_path, [*page, *lines(72, 600, *BODY)])
    assert document.text == f"On Rain and Wind\n\nAbstract\n\n{PROSE}"
    assert document.metadata["front_matter"].split() == ["Ann", "Smith", "Hill", "University", mark]


def test_the_authors_of_a_paper_in_two_columns_go_to_the_metadata(tmp_path):
    left = ["The field is wide and the wind is strong"] * 8
    right = ["and the rain comes late as it always does"] * 8
    page = [*TITLE, *NAMES, *ADDRESSES, *lines(50, 620, *left), *lines(300, 620, *right)]
    document = read_pages(tmp_path, page)
    assert document.text.startswith("On Rain and Wind\n\nThe field is wide")
    assert document.metadata["front_matter"] == FRONT


STAYS = {
    "addresses without signs": [*NAMES, *lines(72, 676, "Institute of Rain, Hill University")],
    "an address for one sign only": [*NAMES, *ADDRESSES[:2]],
    "signs that are not raised": [
        At(72, 700, "Covers Parts 1, 2 and 3"),
        *lines(72, 676, "1 Soil", "2 Rain", "3 Wind"),
    ],
    "a subtitle": [At(72, 710, "Rain and Wind of the North", 12), At(72, 690, "Ann Smith, Spring 2020")],
    "a letter": [
        *lines(72, 710, "Hill Farm", "12 Mill Lane", "Hill Town", "farm@hill.example"),
        At(72, 650, "Dear Mrs Smith,"),
    ],
    "a leaflet": [
        *lines(72, 710, "Hill Farm", "12 Mill Lane", "farm@hill.example"),
        At(72, 640, "Programme", 14),
    ],
    "an address in prose": lines(
        72, 700, "Whoever has seen the rain or the wind writes to us at farm@hill.example"
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_is_not_surely_a_paper_s_authors_stays(tmp_path, name):
    document = read_pages(tmp_path, [*TITLE, *STAYS[name], *lines(72, 600, *BODY)])
    assert "front_matter" not in document.metadata
    said = document.text.replace("\n", " ")
    assert all(word in said for piece in STAYS[name] for word in piece.text.split())


def test_authors_without_text_below_stay_as_on_a_slide(tmp_path):
    document = read_pages(
        tmp_path, [*TITLE, *NAMES, *ADDRESSES, At(72, 400, "Spring 2020")], lines(72, 600, *BODY)
    )
    assert "front_matter" not in document.metadata
    assert "Ann Smith 1 , Bob Miller 2" in document.text


def test_authors_on_a_later_page_or_without_a_title_stay(tmp_path):
    paper = [*NAMES, *ADDRESSES, *lines(72, 600, *BODY)]
    assert "front_matter" not in read_pages(tmp_path, paper).metadata
    assert "front_matter" not in read_pages(tmp_path, lines(72, 600, *BODY), [*TITLE, *paper]).metadata


WIDE = [
    f"the field is wide and the wind is strong on day {n} of the long and rainy year" for n in range(10, 22)
]
NOTES = ["DOI: 10.1000/rain.5", "Published: 3 May 2020", "Editor: Ann Smith", "Licence: CC BY 4.0"]


def beside(*notes: str, size: float = 8) -> list[At]:
    return [*lines(30, 695, *notes, size=size, pitch=20), *lines(200, 700, *WIDE)]


def test_notes_on_the_publication_in_the_margin_go_to_the_metadata_with_their_page(tmp_path):
    document = read_pages(tmp_path, lines(72, 400, *BODY), beside(*NOTES))
    assert document.text == f"{PROSE}\n\n{' '.join(WIDE)}"
    assert document.metadata["margin_notes"] == [{"page": 2, "text": "\n\n".join(NOTES)}]
    assert "pages_without_text" not in document.metadata


def test_a_margin_with_few_words_on_the_publication_or_with_prose_stays(tmp_path):
    quotes = [
        "The wind is strong,",
        "says the old farmer,",
        "and he waits for rain",
        "until late in the year.",
    ]
    definitions = ["Loam: a soil", "of sand and clay", "Rain: water", "that falls"]
    one_mark = ["Published: 3 May 2020", "Revised: 4 May 2020", "Volume 3", "Number 4"]
    for notes in (quotes, definitions, one_mark):
        document = read_pages(tmp_path, beside(*notes))
        assert "margin_notes" not in document.metadata
        assert all(note in document.text for note in notes)
    prose = lines(
        30, 600, *("the wind blows here", "from the west and the", "rain comes with it") * 2, size=8
    )
    document = read_pages(tmp_path, beside(*NOTES) + prose)
    assert "margin_notes" not in document.metadata
    assert "CC BY 4.0" in document.text


def test_notes_on_the_publication_in_the_size_of_the_text_stay(tmp_path):
    document = read_pages(tmp_path, beside(*NOTES, size=10))
    assert "margin_notes" not in document.metadata
    assert "10.1000/rain.5" in document.text
