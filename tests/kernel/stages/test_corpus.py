"""The corpus that settings declare is the same rows from whatever folder a command runs."""

from pathlib import Path

import pytest

from ragstone.kernel.config import load_settings
from ragstone.kernel.stages.corpus import load_corpus

FROM_HERE = [("farm", "ragstone.toml"), (".", "farm/ragstone.toml"), ("/", "{}/farm/ragstone.toml")]


@pytest.mark.parametrize(("folder", "settings"), FROM_HERE)
def test_sources_are_seen_from_the_settings_wherever_one_works(tmp_path, monkeypatch, folder, settings):
    (tmp_path / "farm" / "docs").mkdir(parents=True)
    (tmp_path / "farm/docs/wheat.md").write_text("Wheat is sown in October.")
    (tmp_path / "farm/rows.jsonl").write_text(
        '{"id": "a", "text": "Beans.", "source": "https://a.example/beans"}\n{"id": "b", "text": "Maize."}\n'
    )
    (tmp_path / "far.md").write_text("Rice is flooded.")
    (tmp_path / "farm/ragstone.toml").write_text('[documents]\npaths = ["docs", "rows.jsonl", "../far.md"]\n')
    monkeypatch.chdir(tmp_path / folder)
    corpus = load_corpus(load_settings(Path(settings.format(tmp_path))))
    assert [row.source for row in corpus.documents] == [
        *("docs/wheat.md", "https://a.example/beans", "rows.jsonl", "../far.md")
    ]
