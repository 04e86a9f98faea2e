"""The report cards of a project: what is damaged is told, what is something else is passed over."""

import logging

import msgspec
from tests.support.tiny_run import card

from ragstone.features.agree import project_cards
from ragstone.kernel.config import load_settings


def test_damaged_cards_are_told_and_other_files_are_not(tmp_path, caplog):
    (tmp_path / "ragstone.toml").write_text("")
    settings = load_settings(tmp_path / "ragstone.toml")
    whole = msgspec.json.encode([card(better=True)])
    (tmp_path / "cards.json").write_bytes(whole)
    (tmp_path / "rows.json").write_text('{"question": "a"}\n{"question": "b"}\n')
    with caplog.at_level(logging.WARNING):
        assert len(project_cards(settings, [])) == 1
        assert not caplog.messages
        (tmp_path / "cards.json").write_bytes(whole[:-9])
        assert project_cards(settings, []) == []
        (tmp_path / "cards.json").write_bytes(whole.replace(b'"judge":"', b'"judge":"\xff'))
        (tmp_path / "deep.json").write_bytes(b'[{"a":' + b"[" * 100_000)
        assert project_cards(settings, []) == []
    assert [message.partition(": ")[0] for message in caplog.messages] == [str(tmp_path / "cards.json")] * 2
