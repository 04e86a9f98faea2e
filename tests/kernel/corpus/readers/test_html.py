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


def test_the_main_part_is_read_where_a_page_names_one(tmp_path):
    around = "<ul><li>Home</li></ul><main><h1>Maize</h1><p>Sow in May.</p></main><div>Imprint</div>"
    assert text_of(tmp_path, around) == "Maize\n\nSow in May."
    two = "<main><p>Maize.</p></main><main><p>Rice.</p></main>"
    assert text_of(tmp_path, two) == "Maize.\n\nRice."
    assert text_of(tmp_path, "<main> </main><p>Maize.</p>") == "Maize."


def test_a_table_of_contents_is_no_text_and_a_box_of_that_name_is(tmp_path):
    links = "".join(f"<li><a href='#{part}'>{part}</a></li>" for part in ("Sow", "Water", "Reap"))
    assert text_of(tmp_path, f"<ul>{links}</ul><p>Sow in May.</p>") == "Sow in May."
    named = f"<div class='toc-box'><b>Inhalt</b><ul>{links}</ul></div><p>Sow in May.</p>"
    assert text_of(tmp_path, named) == "Sow in May."
    box = "<div class='toc'><p>Read <a href='#sow'>this</a> before you sow anything.</p></div>"
    assert text_of(tmp_path, box) == "Read this before you sow anything."


def test_a_heading_that_is_a_link_to_itself_is_text_whatever_its_name(tmp_path):
    page = "<h2 id='menu'><a href='#menu'>Menu</a></h2><p>Soup and bread.</p>"
    assert text_of(tmp_path, page) == "Menu\n\nSoup and bread."


def test_a_page_is_not_left_out_for_its_own_class(tmp_path):
    link = "<p><a href='sowing.html'>How to sow maize</a></p>"
    assert text_of(tmp_path, f"<main id='contents'>{link}</main>") == "How to sow maize"
    assert "How to sow maize" in read(tmp_path, f"<body class='for-nav'>{link}</body>").text


def test_links_to_other_pages_are_text_unless_they_are_navigation(tmp_path):
    links = "".join(f"<li><a href='{crop}.html'>{crop}</a></li>" for crop in ("Maize", "Rice", "Teff"))
    assert text_of(tmp_path, f"<p>We have:</p><ul>{links}</ul>") == "We have:\n\nMaize\nRice\nTeff"
    assert text_of(tmp_path, f"<p>Sow.</p><ul class='nav-list'>{links}</ul>") == "Sow."
    assert text_of(tmp_path, f"<p>Sow.</p><div role='navigation'>{links}</div>") == "Sow."


def test_a_row_of_empty_cells_and_a_mark_beside_a_heading_are_no_text(tmp_path):
    table = "<table><tr><td> </td><td></td></tr><tr><td>Maize</td><td>May</td></tr></table>"
    assert text_of(tmp_path, table) == "Maize | May"
    assert text_of(tmp_path, "<h2>Sowing<a href='#sowing'>¶</a></h2><p>In May.</p>") == "Sowing\n\nIn May."


def test_the_name_of_the_site_is_no_part_of_a_title(tmp_path):
    page = "<title>{}</title><h1>Sowing<a href='#sowing'>¶</a></h1><p>In May.</p>"
    assert read(tmp_path, page.format("Sowing — The farm")).title == "Sowing"
    assert read(tmp_path, page.format("Sowing-machines")).title == "Sowing-machines"
    assert read(tmp_path, page.format("The farm")).title == "The farm"
    assert read(tmp_path, "<h1>C#</h1><p>A language.</p>").title == "C#"
