"""The corpus that settings declare is the same rows from whatever folder a command runs."""

import zipfile
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from ragstone.kernel.config import load_settings
from ragstone.kernel.stages.corpus import load_corpus, source_from

FROM_HERE = [("farm", "ragstone.toml"), (".", "farm/ragstone.toml"), ("/", "{}/farm/ragstone.toml")]


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("C:\\farm\\docs\\deep\\a.md", "docs/deep/a.md"),
        ("farm\\docs\\a.md", "docs/a.md"),
        ("D:\\other\\a.md", "D:/other/a.md"),
    ],
)
def test_sources_have_the_same_separators_on_every_system(source, seen):
    assert source_from(PureWindowsPath("farm"), PureWindowsPath("C:/farm"), source) == seen
    assert source_from(PurePosixPath("farm"), PurePosixPath("/farm"), "farm/docs/a\\b.md") == "docs/a\\b.md"


@pytest.mark.long
@pytest.mark.parametrize(("folder", "settings"), FROM_HERE)
def test_sources_are_seen_from_the_settings_wherever_one_works(tmp_path, monkeypatch, folder, settings):
    (tmp_path / "farm" / "docs").mkdir(parents=True)
    (tmp_path / "farm/docs/wheat.md").write_text("Wheat is sown in October.")
    (tmp_path / "farm/rows.jsonl").write_text(
        '{"id": "a", "text": "Beans.", "source": "https://a.example/beans"}\n{"id": "b", "text": "Maize."}\n'
        '{"id": "c", "text": "Oats.", "source": "farm/book.pdf"}\n'
    )
    with zipfile.ZipFile(tmp_path / "farm/more.zip", "w") as packed:
        packed.writestr("rye.md", "Rye is hardy.")
    for folder_in, text in (("pages", "Barley is brewed."), ("notes", "Peas climb.")):
        (tmp_path / "farm" / folder_in).mkdir()
        (tmp_path / "farm" / folder_in / "page.md").write_text(text)
    (tmp_path / "far.md").write_text("Rice is flooded.")
    paths = ["docs", "rows.jsonl", "../far.md", "more.zip", str(tmp_path / "farm/pages"), "no*/*.md"]
    (tmp_path / "farm/ragstone.toml").write_text(f"[documents]\npaths = {paths}\n")
    monkeypatch.chdir(tmp_path / folder)
    corpus = load_corpus(load_settings(Path(settings.format(tmp_path))))
    assert [row.source for row in corpus.documents] == [
        *("docs/wheat.md", "https://a.example/beans", "rows.jsonl", "farm/book.pdf", "../far.md"),
        *("more.zip/rye.md", "pages/page.md", "notes/page.md"),
    ]
