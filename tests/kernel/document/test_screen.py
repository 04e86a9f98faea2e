"""The first screen of a document: the answer, what fits, and a count of every caution that does not."""

import io
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from tests.support.surfaces import document, every_block, shown

from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Findings,
    Heading,
    HeadlineFinding,
    Listing,
    Notes,
    Paragraph,
    ReportDocument,
    Table,
)
from ragstone.kernel.document.screen import LINES, _height_unwrapped, render_screen
from ragstone.kernel.document.terminal import render_blocks


def screen(*documents: ReportDocument, width: int = 80, most: int = LINES) -> str:
    """Return the first screen of documents."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(render_screen(documents, width, most))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def words(text: str) -> str:
    """Return a text without its line breaks."""
    return " ".join(text.split())


def table(n: int, label: str = "Rows", **of_table: object) -> Table:
    rows = [[f"row-{label}-{at}", str(at)] for at in range(n)]
    return Table([Column("Name", text=True), Column("n")], rows, label, **of_table)


def long_document(**fields: object) -> ReportDocument:
    blocks: list[Block] = [
        Heading("What changed"),
        *(Paragraph(f"Setting {at} differs.") for at in range(12)),
        Heading("Metric by metric"),
        table(40, "Means", part="main"),
        Paragraph("B is better.", tone="outcome"),
        Heading("Retrieval"),
        table(9, "Ranks"),
        Notes([f"Note {at} says that not all is known." for at in range(9)]),
    ]
    return msgspec.structs.replace(document(*blocks), **fields)


def test_what_fits_stands_whole_with_the_answer_first():
    out = screen(document(Paragraph("Before it."), Paragraph("B is better.", tone="outcome"), table(3)))
    assert out.splitlines()[0] == "B is better."
    assert "--all" not in out
    assert all(f"row-Rows-{at}" in out for at in range(3))


def test_the_main_table_is_cut_and_the_rest_is_named(says):
    says(screen(long_document()))


def test_all_that_is_said_whole_is_what_a_terminal_showed_before(says):
    says(shown(long_document(), 80))


def test_the_first_table_is_the_main_one_where_none_is_marked():
    out = screen(
        document(*(Paragraph(f"line {at}") for at in range(40)), table(40, "first"), table(40, "next"))
    )
    assert "row-first-0" in out
    assert "row-next-0" not in out
    assert "line 39" not in out


def test_several_answers_stand_under_their_titles_and_the_rest_are_counted():
    cards = [
        msgspec.structs.replace(
            document(
                Paragraph(f"Judge {at} is better than nothing. " * 4, tone="outcome"), table(9, f"of {at}")
            ),
            title=f"judge-{at}",
            last="",
        )
        for at in range(9)
    ]
    out = screen(*cards)
    n_shown = sum(f"judge-{at}\n" in out for at in range(9))
    assert f"{9 - n_shown} more verdicts" in words(out)
    assert out.splitlines()[0].startswith("judge-0")
    # Nothing but the last line is beside them, so they take all but the three lines of one more.
    assert 5 < n_shown < 9
    assert LINES - 3 < len(out.splitlines()) <= LINES


def test_a_caution_of_one_of_several_documents_says_of_which(says):
    def card(at: int, *cautions: str) -> ReportDocument:
        verdict = Paragraph(f"Judge {at} is fit.", tone="outcome")
        return ReportDocument(
            title=f"judge-{at}",
            kind="card",
            about="",
            version="",
            blocks=[verdict, table(9), Notes([*cautions])],
        )

    out = words(screen(card(0, "Few rows."), card(1, "Few rows.", "Give this judge a threshold."), card(2)))
    says(out[out.index("- judge-0") :])
    assert "- Few rows." in words(screen(card(0, "Few rows."), card(1, "Few rows."), card(2, "Few rows.")))
    assert "- Few rows." in words(screen(card(0, "Few rows."), most=9))


def test_a_document_that_answers_nothing_is_a_section_beside_others():
    card = document(Paragraph("Cannot tell.", tone="outcome"), table(9))
    means = msgspec.structs.replace(document(table(30, "means")), title="What people would give", last="")
    out = words(screen(card, means))
    assert means.title in out
    assert out.index("Cannot tell.") == 0
    assert (
        words(screen(card, msgspec.structs.replace(means, blocks=[table(2)]))).count("What people would") == 1
    )


def test_an_answer_under_the_name_of_a_system_is_said_with_it(says):
    rows = [Heading("mine", level=4), Paragraph("3 of 9 lost.", tone="strong", part="answer"), table(2)]
    says(screen(document(*rows)).splitlines()[0])


def test_without_an_answer_the_findings_of_the_page_answer_each_with_its_question(says):
    figure = Figure("right: correctness", "0.90", "95 % interval 0.84 to 0.95", "98 scored of 100 rows")
    findings = [HeadlineFinding("Is it right?", [figure], []), HeadlineFinding("Why?", [], [])]
    says(words(screen(document(Findings(findings=findings), table(3)))).partition(" run")[0])
    counted = HeadlineFinding("How many?", [Figure("accepted", "6", "", "6 written")], [])
    assert screen(document(Findings(findings=[counted]), table(3))).startswith("run")
    nothing = document(Findings(findings=[HeadlineFinding("Is it right?", [], [])]), table(3))
    says(screen(nothing).splitlines()[0])


def test_hidden_rows_with_a_caution_are_counted_as_such(says):
    rows = [[Cell(f"row {at}", tone="warn" if at > 35 else ""), "1"] for at in range(40)]
    out = screen(document(Table([Column("a", text=True), Column("n")], rows, "t")))
    says(re.search(r"\d+ more rows .*", words(out))[0])


def test_a_table_that_is_too_wide_lacks_its_rare_columns_and_the_last_line_names_them(says):
    columns = [Column("Name", text=True), "mean", Column("cost", rare=True), Column("time", rare=True)]
    heads = [each if isinstance(each, Column) else Column(each) for each in columns]
    rows = [["one group"], *([f"system number {at}", "0.50", "c" * 30, "t" * 20] for at in range(40))]
    wide = document(Table(heads, rows, "Board"), Paragraph("Right.", tone="outcome"))
    out = words(screen(wide, width=50))
    says(out)
    some = words(screen(wide, width=60))
    assert ("ccc" in some, "ttt" in some) == (True, False)
    says(some[some.index("1 more column") :])
    assert "more column" not in words(screen(wide, width=100))
    assert "ttt" in screen(wide, width=100)
    assert "more column" not in words(screen(wide, width=50, most=200))  # shown whole: nothing is left out


def test_cautions_in_the_cells_of_a_table_that_is_left_out_are_counted(says):
    columns = [Column("Name", text=True), Column("n")]
    cells = [Cell("†", tone="warn"), Cell("few", caution="few rows"), Cell("worse", tone="bad"), Cell("fine")]
    doubted = Table(columns, [[f"judge {at}", cell] for at, cell in enumerate(cells)], "Judges")
    out = words(screen(document(table(60), Heading("Judges"), doubted)))
    assert "judge 0" not in out
    says(out[out.index("--all shows") :])


def test_a_head_of_a_group_does_not_end_a_cut_table():
    rows = [row for at in range(20) for row in ([f"group {at}"], [f"row {at}", "1"])]
    out = screen(document(Table([Column("a", text=True), Column("n")], rows, "t")))
    lines = [line.strip() for line in out.splitlines()]
    assert re.fullmatch(
        r"row \d+ +1", lines[next(at for at, line in enumerate(lines) if line.startswith("and ")) - 1]
    )


def test_what_is_short_of_the_last_words_is_said_on_a_cut_screen_alone(says):
    long = long_document(last="Models: a\nTokens: 9. Cost: 1 USD.", brief="Cost: 1 USD.")
    assert "Models: a" not in screen(long)
    says(screen(long).splitlines()[-1])
    assert "Models: a" in screen(msgspec.structs.replace(long, blocks=[table(2)]))


@pytest.mark.parametrize("width", [40, 80, 100, 200])
@pytest.mark.parametrize("text", ["[bold]x[/bold]", "a text of many words " * 9, "x" * 300])
def test_no_screen_is_wider_than_the_terminal_and_markup_is_text(width, text):
    out = screen(every_block(text), width=width)
    assert max(map(cell_len, out.splitlines())) <= width
    assert text.split()[0][:30] in out


SENTENCE = st.integers(1, 30).map(lambda n: "word " * n)
CAUTION_KINDS = ("notes", "warn", "listing", "marked")


@st.composite
def blocks(draw: st.DrawFn) -> list[Block]:
    """Blocks of a document in which the caution number N says `caution-N`, the answer number N `answer-N`."""
    made: list[Block] = []
    kinds = st.lists(st.sampled_from(["head", "text", "answer", "table", *CAUTION_KINDS]), max_size=30)
    for n, kind in enumerate(draw(kinds)):
        sentence = draw(SENTENCE)
        match kind:
            case "head":
                made.append(Heading(f"head-{n}", level=draw(st.integers(2, 4))))
            case "text":
                made.append(Paragraph(sentence, cautions=draw(st.integers(0, 2))))
            case "answer":
                made.append(Paragraph(f"answer-{n} {sentence}", tone="outcome"))
            case "table":
                made.append(table(draw(st.integers(0, 40)), f"t{n}"))
            case "notes":
                made.append(Notes([f"caution-{n} {sentence}"]))
            case "warn":
                made.append(Paragraph(f"caution-{n} {sentence}", tone="warn"))
            case "listing":
                made.append(Listing([f"caution-{n} {sentence}", f"caution-{n}b {sentence}"], tone="warn"))
            case "marked":
                made.append(Paragraph(f"caution-{n} {sentence}", tone="muted", part="caution"))
    return made


def cautions_of(made: list[Block]) -> set[str]:
    """Return the names of the cautions."""
    texts = [
        *(item for block in made if isinstance(block, Notes | Listing) for item in block.items),
        *(block.words for block in made if isinstance(block, Paragraph)),
    ]
    return {text.split()[0] for text in texts if text.startswith("caution-")}


@given(blocks(), st.sampled_from([40, 80, 120]), st.sampled_from([1, 6, 13, LINES]))
def test_every_caution_is_shown_or_counted_and_the_answer_is_first(made, width, most):
    out = screen(document(*made), width=width, most=most)
    flat = words(out)
    seen = set(re.findall(r"caution-\d+b?", out))
    within = sum(block.cautions for block in made if isinstance(block, Paragraph))
    told = re.search(r"([\d,]+) more cautions?", flat)
    counted = int(told[1]) if told else 0
    assert len(cautions_of(made)) - len(seen) <= counted <= len(cautions_of(made)) - len(seen) + within
    assert counted == 0 or "--all shows" in flat
    answers = [
        block.words.split()[0] for block in made if isinstance(block, Paragraph) and block.tone == "outcome"
    ]
    if answers:
        first = out.splitlines()[0]
        assert answers[0] in first
        hidden = len(answers) - len(set(re.findall(r"answer-\d+", out)))
        assert hidden == 0 or f"{hidden} more verdict" in flat


@given(blocks())
def test_a_screen_is_no_longer_than_its_lines_where_its_first_sentences_are_short(made):
    out = screen(document(*made))
    # The first answer and the first caution take three lines at most each; the last line counts sections.
    assert len(out.splitlines()) <= LINES


@given(blocks())
def test_sections_that_are_left_out_are_named_or_counted(made):
    out = words(screen(document(*made)))
    told = re.search(r"more of (\d+) sections?: (.*)", out)
    if told:
        names = told[2].split("; ")
        more = re.fullmatch(r"and ([\d,]+) more", names[-1])
        assert len(names) - bool(more) + (int(more[1]) if more else 0) == int(told[1])


WORDS = st.text(st.sampled_from("ab 米é\n\t\u2028"), max_size=9)


@given(WORDS, st.lists(st.tuples(WORDS, WORDS), max_size=4))
def test_what_is_counted_without_a_layout_has_the_lines_that_rich_makes(said, rows):
    console = Console(file=io.StringIO(), width=8, color_system=None)
    made = Table([Column("Name", text=True), Column("n")], [[*row] for row in rows], "t")
    for part in render_blocks([Heading(said, level=2), made]):
        assert _height_unwrapped(part, console) in (None, len(console.render_lines(part, pad=False)))
