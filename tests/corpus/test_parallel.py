"""Several processes: the same rows in the same order, and a process that dies costs one file."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from ragstone.corpus import IngestOptions, Skipped, parallel, read_corpus
from ragstone.corpus.file import File
from ragstone.corpus.parallel import n_processes, read_guarded, read_in_processes
from ragstone.errors import MissingExtra

DEADLY = """
import os, signal
from ragstone.corpus import worker
real = worker.read_file
def read(file, options):
    if file.path.name == "deadly.txt":
        os.kill(os.getpid(), signal.SIGKILL)
    return real(file, options)
worker.read_file = read
"""


@pytest.fixture
def folder(tmp_path):
    for number in range(12):
        (tmp_path / f"{number:02}.md").write_text(f"# Page {number}\n\nWater the field in summer.\n" * 3)
    (tmp_path / "05.pdf").write_bytes(b"%PDF broken")
    (tmp_path / "rows.csv").write_text("id,text\n1,One\n2,Two\n")
    return tmp_path


def test_two_processes_give_the_bytes_of_one(folder):
    one, two = (read_corpus([folder], IngestOptions(processes=n)) for n in (1, 2))
    assert msgspec.json.encode(two) == msgspec.json.encode(one)
    assert (len(one.documents), len(one.skipped)) == (14, 1)


def test_a_process_that_dies_costs_its_file_and_the_rest_goes_on(folder, monkeypatch):
    (folder / "deadly.txt").write_text("Text.")
    monkeypatch.setattr(parallel, "BEFORE", DEADLY)
    corpus = read_corpus([folder], IngestOptions(processes=2))
    assert len(corpus.documents) == 14
    reasons = {Path(one.path).name: one.reason for one in corpus.skipped}
    assert reasons["deadly.txt"] == f"the process that read it died (signal {int(signal.SIGKILL)})"


def test_a_package_that_is_missing_there_is_missing_here(folder, monkeypatch):
    (folder / "page.html").write_text("<p>x")
    hidden = "import sys; sys.modules['selectolax.lexbor'] = None"
    monkeypatch.setattr(parallel, "BEFORE", hidden)
    monkeypatch.setitem(sys.modules, "selectolax.lexbor", None)
    with pytest.raises(MissingExtra):
        read_corpus([folder], IngestOptions(processes=2))


def test_where_no_process_can_be_started_files_are_read_here(folder, monkeypatch):
    monkeypatch.setattr(parallel, "BEFORE", "raise SystemExit(3)")
    assert len(read_corpus([folder], IngestOptions(processes=2)).documents) == 14


def test_a_reader_that_stops_early_leaves_no_process(folder):
    results = read_in_processes(
        [File(path, path.name) for path in sorted(folder.glob("*.md"))], IngestOptions(), 2
    )
    next(results)
    results.close()
    children = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True
    )
    assert "ragstone.corpus.worker" not in children.stdout


def test_a_script_without_a_main_guard_is_read_in_parallel(folder):
    script = folder / "script.py"
    script.write_text(
        "import ragstone\n"
        f"corpus = ragstone.read_corpus([{str(folder)!r}], ragstone.IngestOptions(processes=2))\n"
        "print(len(corpus.documents))\n"
    )
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert ran.stdout == "14\n"


def test_a_handful_of_small_files_is_read_by_one_process_and_many_by_more(folder, monkeypatch):
    files = [File(path, path.name) for path in folder.glob("*.md")]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)), raising=False)
    assert n_processes(files, IngestOptions()) == 1
    assert n_processes(files * 500, IngestOptions()) == 4
    assert n_processes([*files, Skipped("x", "y")], IngestOptions(processes=3)) == 3


GREEDY = """
import ragstone.corpus.worker as worker
read_file = worker.read_file
worker.read_file = lambda file, options: read_file(file, options) if bytearray(1_500_000_000) else []
"""
LIMITED = """
import resource
import ragstone.corpus.worker as worker
from ragstone.corpus.file import Skipped
limits = [resource.getrlimit(one) for one in (resource.RLIMIT_CPU, resource.RLIMIT_DATA)]
worker.read_file = lambda file, options: [Skipped("", str(limits))]
"""


def test_a_file_of_a_stranger_is_skipped_when_it_takes_too_much(tmp_path, monkeypatch):
    file = File(tmp_path / "rice.txt", "rice.txt", b"Rice stands in water.")
    [document] = read_guarded(file, IngestOptions())
    assert document.text == "Rice stands in water."
    monkeypatch.setattr(parallel, "BEFORE", GREEDY)
    [skipped] = read_guarded(file, IngestOptions(), n_bytes=1_000_000_000)
    assert "more than 60 s or 1 GB" in skipped.reason
    [document] = read_guarded(file, IngestOptions())  # of 2 GB there is enough
    assert document.text == "Rice stands in water."
    monkeypatch.setattr(parallel, "BEFORE", LIMITED)
    [limits] = read_guarded(file, IngestOptions(), cpu_s=50)
    assert limits.reason == "[(50, 50), (2000000000, 2000000000)]"
