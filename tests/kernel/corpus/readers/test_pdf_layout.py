"""Reading order, tables, paragraphs and page furniture, on pages whose text stands where the test puts it."""

import pytest
from tests.support.pdf import At, lines, read_pages

from ragstone.kernel.corpus.readers.pdf._paragraphs import DocumentWords, join

LEFT = [
    "The first column begins with a line",
    "that goes on with a second line and",
    "a third one, as columns of text will",
    "do. Its fifth line has not come yet,",
    "but here it is, and one more follows",
    "before the whole of the column ends.",
]
RIGHT = [
    "Now the second column has its lines,",
    "which are as many as the first's are",
    "and stand at the same height as they",
    "do, so that each pair of them looks",
    "like the row of a table, which it is",
    "not, since the text fills its column.",
]
THIRD = [line.replace("second", "third") for line in RIGHT]


def text_of(tmp_path, *pages: list[At]) -> str:
    return read_pages(tmp_path, *pages).text


def across(*columns: list[At]) -> list[At]:
    """Return columns in the order in which some programs draw them: line by line across the page."""
    return [piece for row in zip(*columns, strict=True) for piece in row]


def test_two_columns_are_read_one_after_the_other(tmp_path):
    page = across(lines(50, 700, *LEFT), lines(240, 700, *RIGHT))
    assert text_of(tmp_path, page) == f"{' '.join(LEFT)}\n\n{' '.join(RIGHT)}"


def test_three_columns_are_read_one_after_the_other(tmp_path):
    page = across(lines(40, 700, *LEFT), lines(225, 697, *RIGHT), lines(410, 700, *THIRD))
    assert text_of(tmp_path, page) == "\n\n".join(" ".join(column) for column in (LEFT, RIGHT, THIRD))


def test_what_goes_over_both_columns_is_read_before_or_after_them(tmp_path):
    wide = "This sentence goes over both of the columns and stands alone, as a title or an abstract may do."
    page = [At(50, 740, wide), At(50, 560, wide), *across(lines(50, 700, *LEFT), lines(240, 700, *RIGHT))]
    assert text_of(tmp_path, page) == "\n\n".join([wide, " ".join(LEFT), " ".join(RIGHT), wide])


def test_a_paragraph_that_goes_over_a_column_is_one_line_and_a_caption_comes_after_it(tmp_path):
    left = [*LEFT[:-1], "before the whole of the column goes"]
    right = ["on at the head of the second, which", *RIGHT[1:]]
    page = across(lines(50, 700, *left), lines(240, 700, *right))
    page += [At(50, 600, "Figure 1. A field", 8)]
    assert text_of(tmp_path, page) == f"{' '.join(left)} {' '.join(right)}\n\nFigure 1. A field"


def test_notes_in_the_margin_come_after_the_text(tmp_path):
    wide = [f"{line} {line}" for line in LEFT * 2]
    page = lines(
        30,
        695,
        "Published: May",
        "Licence: free",
        "Volume 3",
        "Number 4",
        "Page 5 of this very long yearbook",
        size=8,
        pitch=11,
    )
    page += lines(200, 700, *wide)
    notes = "Published: May\nLicence: free\nVolume 3\nNumber 4\nPage 5 of this very long yearbook"
    assert text_of(tmp_path, page) == f"{' '.join(wide)}\n\n{notes}"


def test_the_rows_of_a_table_are_lines_with_bars_between_cells(tmp_path):
    rows = [
        ("Crop", "2019", "2020"),
        ("Winter wheat", "8.1", "7.9"),
        ("Rye", "5.0", "5.25"),
        ("Oats", "4", "5"),
    ]
    page = [
        At(x, 700 - 14 * n, cell)
        for n, row in enumerate(rows)
        for x, cell in zip((72, 200, 260), row, strict=True)
    ]
    expected = "Crop | 2019 | 2020\nWinter wheat | 8.1 | 7.9\nRye | 5.0 | 5.25\nOats | 4 | 5"
    assert text_of(tmp_path, page) == expected
    # The same, drawn column by column.
    assert text_of(tmp_path, sorted(page, key=lambda piece: piece.x)) == expected


def test_a_row_that_is_drawn_at_once_is_parted_at_its_gaps(tmp_path):
    page = lines(72, 700, "Wheat| 8.1| 7.9", "Barley| 6.0| 6.2", "Oats| 5.1| 5.3", gap=60)
    assert text_of(tmp_path, page) == "Wheat | 8.1 | 7.9\nBarley | 6.0 | 6.2\nOats | 5.1 | 5.3"


def test_a_row_of_capitals_that_is_drawn_at_once_is_parted_at_its_gaps_and_nowhere_else(tmp_path):
    # Capitals are wide, but "ILL" is not: a gap must not be taken for the width of other letters.
    rows = ["WARM MAY ON A MAP OF WOMEN", "IT IS ILL| IF IT", "WHAT A COW, MA'AM, WE HAD"]
    expected = "WARM MAY ON A MAP OF WOMEN\nIT IS ILL | IF IT\nWHAT A COW, MA'AM, WE HAD"
    page = lines(72, 700, *rows, gap=30, pitch=30)
    assert text_of(tmp_path, page).replace("\n\n", "\n") == expected


def test_a_cell_of_two_lines_is_one_and_a_group_s_heading_stays_a_line(tmp_path):
    page = [
        *(At(x, 700, cell) for x, cell in ((72, "A1"), (150, "Train to the"), (300, "12.50"))),
        At(150, 688, "coast and back"),
        *(At(x, 676, cell) for x, cell in ((72, "A2"), (150, "Hotel"), (300, "80.00"))),
        At(72, 664, "By car"),
        *(At(x, 652, cell) for x, cell in ((72, "B1"), (150, "Petrol"), (300, "40.00"))),
    ]
    expected = "A1 | Train to the coast and back | 12.50\nA2 | Hotel | 80.00\nBy car\nB1 | Petrol | 40.00"
    assert text_of(tmp_path, page) == expected


def test_rows_of_dots_lead_to_a_cell(tmp_path):
    page = lines(
        72, 700, "Introduction ............ 5", "Soils of the north ...... 12", "Rain ............ 30"
    )
    assert text_of(tmp_path, page) == "Introduction | 5\nSoils of the north | 12\nRain | 30"


def test_wide_gaps_that_no_other_line_shares_part_no_cells(tmp_path):
    page = [
        *(
            At(72, 700, "Ann Smith"),
            At(132, 700, "1, Bob Miller"),
            At(210, 700, "2 and his cousin Carl Brown"),
        ),
        *(At(72, 688, "Dorothea Young"), At(158, 688, "3, Eve Black"), At(228, 688, "4 and her mother Anna")),
    ]
    first = "Ann Smith 1, Bob Miller 2 and his cousin Carl Brown"
    assert text_of(tmp_path, page) == f"{first} Dorothea Young 3, Eve Black 4 and her mother Anna"


def test_indented_lines_and_white_begin_paragraphs_and_short_lines_stay_lines(tmp_path):
    page = [
        *lines(72, 700, *LEFT),
        At(84, 628, "An indented line begins the next and"),
        *lines(72, 616, "it goes on here, up to the right end,", "and ends."),
        *lines(72, 580, "Farm House", "12 Lane", "Hill Town"),
    ]
    indented = "An indented line begins the next and it goes on here, up to the right end, and ends."
    assert text_of(tmp_path, page) == f"{' '.join(LEFT)}\n\n{indented}\n\nFarm House\n12 Lane\nHill Town"


def test_the_items_of_a_list_are_lines(tmp_path):
    page = [
        *lines(72, 700, *LEFT[:2], "what follows:"),
        At(72, 664, "\x95 a first item, whose text is so long"),  # 0x95 is the bullet of WinAnsiEncoding
        At(80, 652, "that it takes two lines,"),
        At(72, 640, "\x95 a second."),
        *lines(72, 628, "1. One", "2. Two"),
    ]
    text = "• a first item, whose text is so long that it takes two lines,\n• a second.\n1. One\n2. Two"
    assert text_of(tmp_path, page).endswith(f"what follows:\n{text}")


def test_headers_footers_and_page_numbers_are_left_out_and_named(tmp_path):
    def page(number: int, *body: str) -> list[At]:
        return [
            At(72, 760, "The Farmer's Almanac"),
            *lines(72, 700, *body),
            At(300, 40, f"Page {number} of 3"),
        ]

    document = read_pages(
        tmp_path,
        page(1, "One reads The Farmer's Almanac here.", "It has it all."),
        page(2, "Sow on Page 2 of 3.", "Then wait."),
        page(3, "Reap.", "Rest."),
    )
    assert document.text == (
        "One reads The Farmer's Almanac here. It has it all.\n\nSow on Page 2 of 3. Then wait.\n\nReap. Rest."
    )
    assert document.metadata["page_furniture"] == [
        {"text": "The Farmer's Almanac", "n_pages": 3},
        {"text": "Page 1 of 3", "n_pages": 3},
    ]


def test_left_and_right_pages_have_furniture_of_their_own(tmp_path):
    pages = []
    for number in range(10, 18):
        header = At(60, 760, f"{number} Rain") if number % 2 == 0 else At(500, 760, f"Wind {number}")
        pages.append([header, *lines(72, 600, f"Body {number * 7} begins.", "It ends.")])
    document = read_pages(tmp_path, *pages)
    assert document.metadata["page_furniture"] == [
        {"text": "10 Rain", "n_pages": 4},
        {"text": "Wind 11", "n_pages": 4},
    ]
    assert document.text.count("Body") == 8


def test_numbers_that_do_not_count_pages_are_no_furniture(tmp_path):
    # A table goes over four pages; its first row stands at one place, and its numbers differ.
    numbers = [(3, 9), (8, 8), (5, 1), (7, 7)]
    pages = [[At(72, 740, f"{a}"), At(150, 740, f"{b}"), *lines(72, 640, *BODY)] for a, b in numbers]
    document = read_pages(tmp_path, *pages)
    assert "page_furniture" not in document.metadata
    assert all(f"{a} | {b}" in document.text for a, b in numbers)


BODY = ["The field is wide and the wind is strong.", "It blows from the west, as it does here."]


def test_a_large_title_on_few_pages_is_no_furniture(tmp_path):
    titled = [At(72, 740, "Results", 20), *lines(72, 640, *BODY)]
    plain = lines(72, 640, *BODY)
    document = read_pages(tmp_path, titled, titled, titled, *[plain] * 5)
    assert document.text.count("Results") == 3
    assert "page_furniture" not in document.metadata


@pytest.mark.parametrize("number", ["7", "Page 7", "- 7 -", "7-45", "Page 1 of 205", "7/12"])
def test_a_single_page_loses_its_number_and_nothing_else(tmp_path, number):
    page = [At(72, 760, "The Farmer's Almanac"), *lines(72, 700, *BODY), At(300, 40, number)]
    document = read_pages(tmp_path, page)
    assert document.text == f"The Farmer's Almanac\n\n{' '.join(BODY)}"
    assert document.metadata["page_furniture"] == [{"text": number, "n_pages": 1}]


def test_a_number_near_the_text_of_a_single_page_stays(tmp_path):
    assert text_of(tmp_path, lines(72, 90, *BODY, "42")).endswith("42")


def test_line_numbers_are_left_out_and_counted(tmp_path):
    said = ["MR. SMITH: May it please the Court.", "", "JUSTICE BROWN: It does.", *["And so on."] * 7]
    page = [At(60, 700 - 24 * n, str(n + 1)) for n in range(10)]
    page += [At(90, 700 - 24 * n, line) for n, line in enumerate(said) if line]
    document = read_pages(tmp_path, page)
    assert document.metadata["line_numbers_removed"] == 10
    assert not any(character.isdigit() for character in document.text)
    assert [line for line in document.text.split("\n") if line] == [line for line in said if line]


def test_the_numbers_of_a_table_s_rows_are_no_line_numbers(tmp_path):
    page = [
        At(x, 700 - 14 * n, cell)
        for n in range(10)
        for x, cell in ((60, str(n + 1)), (90, f"Town {'ABCDEFGHIJ'[n]}"), (200, str(n * n)))
    ]
    document = read_pages(tmp_path, page)
    assert document.text.split("\n")[1] == "2 | Town B | 1"
    assert "line_numbers_removed" not in document.metadata


@pytest.mark.parametrize(
    ("before", "after", "elsewhere", "joined"),
    [
        ("a culti-", "vation of", "", "a cultivation of"),
        ("a culti\ufffe", "vation of", "", "a cultivation of"),  # as PDFium marks a hyphen at a line's end
        ("a two\u00ad", "column of", "two column", "a twocolumn of"),  # a soft hyphen is always one
        ("a two-", "column page", "The two pages have one column.", "a two-column page"),
        ("a non-", "normal one", "a non-normal value", "a non-normal one"),
        ("we re-", "cover it", "to recover; then a cover", "we recover it"),
        ("in Soekarno-", "Hatta", "", "in Soekarno-Hatta"),
        ("of 2018-", "23", "", "of 2018-23"),
        ("the INFOR-", "MATION", "", "the INFORMATION"),
        ("737\u2013", "8 and", "", "737\u20138 and"),
        ("at https://a.org/b-", "c/d", "", "at https://a.org/b-c/d"),
        ("at https://a.org/", "b", "", "at https://a.org/b"),
        ("wheat and", "rye", "", "wheat and rye"),
        ("and \u2013", "so on", "", "and \u2013 so on"),
        ("\u5c0f\u9ea6", "\u751f\u957f", "", "\u5c0f\u9ea6\u751f\u957f"),  # Chinese has no spaces
    ],
)
def test_two_lines_are_joined_as_their_words_want(before, after, elsewhere, joined):
    assert join(before, after, DocumentWords([f"{before}\r\n{after}", elsewhere])) == joined


def test_a_raised_number_is_a_word_of_its_own_line(tmp_path):
    page = [At(72, 700, "The control system"), At(160, 704, "2", 6), At(166, 700, "generated commands.")]
    assert text_of(tmp_path, page) == "The control system 2 generated commands."
