from ragstone.kernel.corpus.readers.html import read_html
from ragstone.kernel.files.file import File


def read(tmp_path, html: str):
    path = tmp_path / "page.html"
    path.write_bytes(html.encode())
    (document,) = read_html(File(path, "page.html"))
    return document


def text_of(tmp_path, body: str) -> str:
    return read(tmp_path, f"<html><body>{body}</body></html>").text


def test_blocks_become_paragraphs_and_inline_elements_do_not(tmp_path):
    body = "<h1>Soil</h1><p>It is <b>very</b>\n   <i>dry</i>.</p><div>One</div><div>Two<br>Three</div>"
    assert text_of(tmp_path, body) == "Soil\n\nIt is very dry.\n\nOne\nTwo\nThree"


def test_scripts_styles_navigation_and_hidden_elements_are_left_out(tmp_path):
    body = (
        "<nav>Home</nav><script>x()</script><style>p{}</style><noscript>n</noscript><p hidden>h</p>"
        "<!-- c --><template>t</template><p>Text</p>"
    )
    assert text_of(tmp_path, body) == "Text"


def test_table_rows_become_lines(tmp_path):
    body = "<table><tr><th>Crop</th><th>Yield</th></tr><tr><td><p>Maize </p></td><td>4<br>t</td></tr></table>"
    assert text_of(tmp_path, body) == "Crop | Yield\nMaize | 4 t"


def test_a_table_that_lays_out_the_page_keeps_its_paragraphs(tmp_path):
    body = "<table><tr><td><h2>News</h2><p>First.</p><p>Second.</p></td></tr></table>"
    assert text_of(tmp_path, body) == "News\n\nFirst.\n\nSecond."


def test_lists_become_lines(tmp_path):
    assert text_of(tmp_path, "<p>Of:</p><ul><li>One</li><li> Two </li></ul>End") == "Of:\n\nOne\nTwo\n\nEnd"


def test_pre_keeps_its_spaces(tmp_path):
    assert text_of(tmp_path, "<p>So:</p><pre>if x:\n    y()</pre>") == "So:\n\nif x:\n    y()"


def test_title_and_language_come_from_the_page(tmp_path):
    page = read(tmp_path, "<html lang='pt-BR'><title> Solo \n vivo </title><body><h1>H</h1></body></html>")
    assert (page.title, page.lang, page.id) == ("Solo vivo", "pt", "page.html")
    assert read(tmp_path, "<h1>Heading</h1><p>x").title == "Heading"
    assert read(tmp_path, "<p>First line<p>x").title == "First line"


def test_entities_and_deep_nesting_are_read(tmp_path):
    assert text_of(tmp_path, "<div>" * 5000 + "&lt;a&gt; &amp; b") == "<a> & b"


def test_headings_have_their_place_level_and_title(tmp_path):
    body = "<p>Before</p><h1>Soil</h1><h2></h2><div><h2> Clay <b>and</b>\n sand</h2><p>Heavy.</p></div>"
    page = read(tmp_path, body)
    assert page.text == "Before\n\nSoil\n\nClay and sand\n\nHeavy."
    # Before: 6 characters and a blank line; Soil: 4 and a blank line.
    assert page.metadata == {
        "headings": [
            {"start": 8, "level": 1, "title": "Soil"},
            {"start": 14, "level": 2, "title": "Clay and sand"},
        ]
    }


def test_a_cell_that_spans_rows_stands_in_each_of_them(tmp_path):
    body = (
        "<table><tr><th rowspan=3>2025</th><td rowspan=2>Q1</td><td>Jan</td></tr>"
        "<tr><td>Feb</td></tr><tr><td>Q2</td><td>Mar</td></tr><tr><td>a</td></tr></table>"
    )
    assert text_of(tmp_path, body) == "2025 | Q1 | Jan\n2025 | Q1 | Feb\n2025 | Q2 | Mar\na"
