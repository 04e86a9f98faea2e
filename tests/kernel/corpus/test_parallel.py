"""Several processes: the same rows in the same order, and a process that dies costs one file."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from ragstone.kernel.corpus import parallel
from ragstone.kernel.corpus.file import IngestOptions, ReadingLimits, Skipped, limits_of
from ragstone.kernel.corpus.ingest import read_corpus
from ragstone.kernel.corpus.parallel import ReadingProcess, n_processes, read_in_processes
from ragstone.kernel.errors import MissingExtra, optional_package
from ragstone.kernel.files.file import File

DEADLY = """
import os, signal
from ragstone.kernel.corpus import parallel
real = parallel.read_file
def read(file, options):
    if file.path.name == "deadly.txt":
        os.kill(os.getpid(), signal.SIGKILL)
    return real(file, options)
parallel.read_file = read
"""


@pytest.fixture
def folder(tmp_path):
    for number in range(12):
        (tmp_path / f"{number:02}.md").write_text(f"# Page {number}\n\nWater the field in summer.\n" * 3)
    (tmp_path / "05.pdf").write_bytes(b"%PDF broken")
    (tmp_path / "rows.csv").write_text("id,text\n1,One\n2,Two\n")
    return tmp_path


@pytest.mark.long
def test_two_processes_give_the_bytes_of_one(folder):
    one, two = (read_corpus([folder], IngestOptions(processes=n)) for n in (1, 2))
    assert msgspec.json.encode(two) == msgspec.json.encode(one)
    assert (len(one.documents), len(one.skipped)) == (14, 1)


@pytest.mark.kill
def test_a_process_that_dies_costs_its_file_and_the_rest_goes_on(folder, monkeypatch, says):
    (folder / "deadly.txt").write_text("Text.")
    monkeypatch.setattr(parallel, "BEFORE", DEADLY)
    corpus = read_corpus([folder], IngestOptions(processes=2))
    assert len(corpus.documents) == 14
    reasons = {Path(one.path).name: one.reason for one in corpus.skipped}
    says(reasons["deadly.txt"])


@pytest.mark.long
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


@pytest.mark.kill
def test_a_reader_that_stops_early_leaves_no_process(folder):
    results = read_in_processes(
        [File(path, path.name) for path in sorted(folder.glob("*.md"))], IngestOptions(), 2
    )
    next(results)
    results.close()
    children = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True
    )
    assert "ragstone.kernel.corpus.parallel" not in children.stdout


@pytest.mark.kill
def test_a_script_without_a_main_guard_is_read_in_parallel(folder):
    script = folder / "script.py"
    script.write_text(
        "import ragstone\n"
        f"corpus = ragstone.read_corpus([{str(folder)!r}], ragstone.IngestOptions(processes=2))\n"
        "print(len(corpus.documents))\n"
    )
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert ran.stdout == "14\n"


def test_a_handful_of_small_files_is_read_here_and_many_by_several_processes(folder, monkeypatch):
    files = [File(path, path.name) for path in folder.glob("*.md")]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)), raising=False)
    assert n_processes(files, IngestOptions()) == n_processes(files, IngestOptions(processes=1)) == 0
    assert n_processes([File(Path("a.pdf"), "a.pdf")], IngestOptions()) == 1
    assert n_processes(files * 500, IngestOptions()) == 4
    assert n_processes([*files, Skipped("x", "y")], IngestOptions(processes=3)) == 3


HOSTILE = """
import time
import ragstone.kernel.corpus.parallel as parallel
real = parallel.read_file
def read(file, options):
    while file.id == "busy":
        pass
    if file.id == "asleep":
        time.sleep(60)
    if file.id == "greedy":
        bytearray(1_500_000_000)
    if file.id == "slow":
        began = time.process_time()
        while time.process_time() - began < 0.6:
            pass
    return real(file, options)
parallel.read_file = read
"""


@pytest.fixture
def process(monkeypatch):
    monkeypatch.setattr(parallel, "BEFORE", HOSTILE)
    reading = ReadingProcess(IngestOptions())
    yield reading
    reading.end()
    reading.close()


def of(name):
    return File(Path("rice.txt"), name, b"Rice stands in water.")


@pytest.mark.kill
def test_a_file_that_takes_too_much_is_skipped_and_the_next_one_is_read(process, monkeypatch):
    limits = ReadingLimits(cpu_s=1, n_bytes=1_000_000_000)
    [skipped] = process.read(of("busy"), limits)
    assert skipped.reason == "it takes more than 1 s to read: split it, or save it again with another program"
    [skipped] = process.read(of("greedy"), limits)
    assert "died (exit code 1): split it" in skipped.reason
    [document] = process.read(of("greedy"))  # of 2 GB there is enough
    assert document.text == "Rice stands in water."
    monkeypatch.setattr(parallel, "CLOCK_TIMES", 0.3)
    [skipped] = process.read(of("asleep"), limits)
    assert "more than 1 s" in skipped.reason


@pytest.mark.kill
def test_each_file_has_limits_of_its_own(process):
    for _ in range(4):
        [document] = process.read(of("slow"), ReadingLimits(cpu_s=2))
        assert document.text == "Rice stands in water."


def test_a_reading_is_stopped(process):
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    began = time.monotonic()
    [skipped] = process.read(of("busy"), stop=stop)
    assert isinstance(skipped, Skipped)
    assert time.monotonic() - began < 30


def test_long_files_may_take_longer():
    assert (limits_of(850).cpu_s, limits_of(200_000_000).cpu_s) == (60, 1060)


@pytest.mark.long
def test_what_a_library_reads_is_read_in_a_process_and_what_only_we_read_is_not(folder, monkeypatch):
    monkeypatch.setattr(parallel, "BEFORE", HOSTILE.replace('"busy"', '"deadly.pdf"'))
    monkeypatch.setattr(parallel, "limits_of", lambda *_: ReadingLimits(cpu_s=1))
    monkeypatch.setattr(parallel, "CLOCK_TIMES", 60)  # a second of computing can take long on a busy machine
    (folder / "deadly.pdf").write_bytes(b"%PDF")
    corpus = read_corpus([folder / "deadly.pdf", folder / "00.md"])
    assert [one.reason[:26] for one in corpus.skipped] == ["it takes more than 1 s to "]
    assert len(corpus.documents) == 1


@pytest.mark.long
def test_a_module_of_ours_that_is_missing_is_no_fault_of_the_file(folder, monkeypatch):
    lost = "import sys; sys.modules['ragstone.kernel.files.xlsx'] = None"
    monkeypatch.setattr(parallel, "BEFORE", lost)
    (folder / "a.xlsx").write_bytes(b"PK")
    with pytest.raises(ImportError, match=r"ragstone\.kernel\.files\.xlsx"):
        read_corpus([folder], IngestOptions(processes=1))
    monkeypatch.setitem(sys.modules, "ragstone.kernel.files.xlsx", None)
    with (
        pytest.raises(ImportError, match=r"ragstone\.kernel\.files\.xlsx"),
        optional_package("Excel", "excel"),
    ):
        read_corpus([folder / "a.xlsx"], IngestOptions(processes=None))
