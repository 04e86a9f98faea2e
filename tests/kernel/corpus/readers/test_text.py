import pytest

from ragstone.kernel.corpus.readers.text import first_line, markdown_title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# One #\n\ntext", "One"),
        ("intro\n\n## Two\n# One", "Two"),
        ("Setext\n======\ntext", "Setext"),
        ("```sh\n# a comment\n```\n\n# Title", "Title"),
        ("---\ntitle: 'From the front'\ntags: [a]\n---\n# Heading", "From the front"),
        ("---\ntags: [a]\n---\n# Heading", "Heading"),
        ("#hashtag is no heading", "#hashtag is no heading"),
        ("", None),
    ],
)
def test_a_markdown_title_is_the_front_matter_s_or_the_first_heading(text, title):
    assert markdown_title(text) == title


def test_a_long_first_line_is_no_title():
    assert first_line("\n\n Short one \nmore") == "Short one"
    assert first_line("x" * 121) is None
