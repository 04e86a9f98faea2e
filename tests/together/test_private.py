"""What all of Ragstone lays in `.ragstone` is its owner's alone."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
EVERYTHING = """
import os
from pathlib import Path
os.umask(0)
import numpy
from ragstone_assistant.api._history import Conversations
from ragstone_assistant.knowledge._catalogue import Catalogue
from ragstone.kernel.embedding._cache import store_vectors
from ragstone.kernel.llm import Ledger
from ragstone.kernel.llm.untrusted import load_secret
from ragstone.features.watch.store import connect
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import write_rows
from ragstone.workbench.accounts import Accounts
home = Path(".ragstone")
kept = [Ledger(home / "ledger.sqlite"), Accounts(home / "workbench", 12), connect(home / "monitor")]
kept += [Conversations(home / "assistant", 1), Catalogue(home / "assistant" / "catalogue.sqlite")]
store_vectors(home / "embeddings.sqlite", {b"k": numpy.zeros(3, "f4")})
load_secret(home)
now = {path: oct(path.stat().st_mode) for path in home.rglob("*.sqlite*")}
write_rows(home / "workbench" / "q.texts.jsonl", [Answer(question_id="q", answer="a")], Answer)
print([path for path, mode in now.items() if mode[-2:] != "00"])
"""


@pytest.mark.long
def test_whoever_makes_something_there_nobody_else_reads_it(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", EVERYTHING], cwd=tmp_path, capture_output=True, text=True, timeout=100
    )
    assert (ran.returncode, ran.stdout) == (0, "[]\n"), ran.stderr  # databases are so from the first moment
    assert (tmp_path / ".ragstone" / "workbench" / "q.texts.jsonl").is_file()
    assert (tmp_path / ".ragstone" / "ledger.sqlite").is_file()
    assert [one for one in (tmp_path / ".ragstone").rglob("*") if one.lstat().st_mode & 0o077] == []
