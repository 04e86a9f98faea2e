"""Conversations of a question are found in pieces that are cut once."""

import gzip
import threading

import msgspec

from ragstone.kernel.runs.asked import CALLS_FILE
from ragstone.workbench import opened_rows
from ragstone.workbench.opened_rows import conversations


def test_two_people_who_open_a_run_at_once_cut_its_conversations_once(tmp_path, monkeypatch):
    run, folder = tmp_path / "run", tmp_path / "kept"
    run.mkdir()
    messages = [{"role": "user", "content": "Is it so?"}]
    calls = [
        {"question_id": f"q{at % 40}", "systems": ["a"], "model": "m", "messages": messages}
        for at in range(200)
    ]
    with gzip.open(run / CALLS_FILE, "wb") as file:
        file.write(b"".join(msgspec.json.encode(call) + b"\n" for call in calls))
    monkeypatch.setattr(opened_rows, "PIECE_BYTES", 1000)
    cut, in_pieces = [], opened_rows._in_pieces

    def counted(run):
        cut.append(run)
        return in_pieces(run)

    monkeypatch.setattr(opened_rows, "_in_pieces", counted)
    found: list[int] = []

    def opened(name: str) -> None:
        found.append(len(conversations(run, name, folder)))

    threads = [threading.Thread(target=opened, args=(f"q{at}",)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [5] * 4
    assert len(cut) == 1
