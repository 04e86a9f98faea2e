"""Every room reads the log: as an answer sheet, by file and by folder, and as a log to sample from."""

from datetime import timedelta
from pathlib import Path

import pytest
from assistant_tests.log.exchanges import ASKED, NOW, SAID, SECRET
from tests.support.command import ragstone

from ragstone.kernel.records import Answer, Question
from ragstone.kernel.tables import read_rows
from ragstone_assistant.log.exchange_log import ExchangeLog, read_exchanges, read_feedback


@pytest.fixture
async def logs(tmp_path: Path) -> Path:
    log = ExchangeLog(tmp_path / "logs", 2500, None, SECRET)
    for n in range(4):
        now = NOW + timedelta(hours=n)
        await log.write(ASKED, SAID, exchange_id=f"e{n}", conversation_id="c", now=now)
    await log.feedback("e0", "up", None, NOW)
    log.close()
    return log.folder


def test_nothing_is_read_of_a_folder_without_a_log(tmp_path: Path) -> None:
    assert [*read_exchanges(tmp_path), *read_feedback(tmp_path / "none")] == []


def test_a_file_of_it_is_an_answer_sheet_with_contexts_and_tags(logs: Path) -> None:
    rows = [row for path in sorted(logs.glob("exchanges-*.jsonl")) for row in read_rows(path, Answer)]
    assert rows == list(read_exchanges(logs))
    assert rows[0].tags is not None
    assert rows[0].tags["region"] == "nakuru"
    assert rows[0].contexts is not None
    assert rows[0].contexts[0].document_id == "maize.pdf"


@pytest.mark.parametrize("whole", [True, False])
def test_it_is_judged_file_by_file_and_as_a_folder(whole: bool, logs: Path, tmp_path: Path) -> None:
    files = [logs] if whole else sorted(logs.glob("exchanges-*.jsonl"))
    assert whole or len(files) > 1
    out = tmp_path / "judgements.jsonl"
    done = ragstone("judge", *files, "--judge", "context_overlap", "-o", out)
    assert done.code == 0, done.err
    assert len(out.read_text().splitlines()) == 4


def test_questions_are_sampled_from_it(logs: Path, tmp_path: Path) -> None:
    done = ragstone("sample", logs, "-o", tmp_path / "q.jsonl", "--tag", "region")
    assert done.code == 0, done.err
    (question,) = read_rows(tmp_path / "q.jsonl", Question)
    assert question.question == "My name is [name], call [phone]. When do I plant maize?"
    assert question.tags is not None
    assert question.tags["region"] == "nakuru"
