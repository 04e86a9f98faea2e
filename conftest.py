"""What all tests share: no real key, no real proxy, a fake endpoint, the development data."""

import gc
import os
import signal
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

import hypothesis
import pytest
from tests.support.answering_here import answering_without_sockets
from tests.support.browser import Tab, close_browser, opened_tab
from tests.support.decision_server import DecisionServer, serving_decisions
from tests.support.fake_openai import FakeOpenAI, serving
from tests.support.postgres import PostgresServer, serving_postgres
from tests.support.ray import started_ray

from ragstone.kernel.llm.providers import providers
from ragstone.kernel.records import Answer, Context, Label
from ragstone.kernel.tables import write_rows

# A shared machine is slow at times: time is measured in benchmarks/, not here.
# Examples are the same each time, so that no run fails where another passes: `--hypothesis-profile drawn`
# draws others, to look for faults. CI tries half of the usual 100, but in the slow tier.
hypothesis.settings.register_profile(
    "ragstone",
    deadline=None,
    derandomize=True,
    max_examples=100 if os.environ.get("CI") in (None, "slow") else 50,
)
hypothesis.settings.register_profile("drawn", deadline=None, max_examples=100)
hypothesis.settings.register_profile("quick", deadline=None, derandomize=True, max_examples=25)  # make test
hypothesis.settings.load_profile("ragstone")

# What a shell starts in the background ignores Ctrl-C, and processes that tests start would inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parent
SHARED_DATA = ROOT.parent / "shared" / "data"

pytest_plugins = ["tests.support.golden", "tests.support.ledgers", "tests.support.tiny_run"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the development data where there is none."""
    if SHARED_DATA.is_dir():
        return
    skip = pytest.mark.skip(reason=f"needs the development data in {SHARED_DATA}")
    for item in items:
        if item.get_closest_marker("pack"):
            item.add_marker(skip)


@pytest.hookimpl(optionalhook=True)  # `make lowest` has no pytest-xdist
def pytest_xdist_auto_num_workers() -> int:
    """Give the number of workers: one for each CPU that this process may use, two at least and eight at most.

    A container's share counts, as cgroup 2 tells it, not the CPUs of the machine that it runs on.
    """
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share = Path("/sys/fs/cgroup/cpu.max")
    quota, period = share.read_text().split() if share.is_file() else ("max", "")
    return min(max(cpus if quota == "max" else round(min(cpus, int(quota) / int(period))), 2), 8)


@pytest.fixture(autouse=True)
def _no_real_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds a key, an endpoint or a proxy in the environment of whoever runs it."""
    for name in list(os.environ):
        if name in _names_of_providers() or name.startswith("OPENAI_") or name.casefold().endswith("_proxy"):
            monkeypatch.delenv(name)


@cache
def _names_of_providers() -> frozenset[str]:
    return frozenset(name for one in providers().values() for name in (*one.keys, *one.base_url_env))


@pytest.fixture(autouse=True)
def _retries_come_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits for an endpoint to come to its senses."""
    monkeypatch.setattr("ragstone.kernel.llm.limits.BACKOFF_S", 0.001)


@pytest.fixture(scope="module", autouse=True)
def _collected() -> Iterator[None]:
    """What a test left open fails in its own module, whenever the collector would have come.

    What is alive then is frozen: the next collection looks only at what came since, and takes milliseconds.
    """
    yield
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Find the tests without collecting memory: all that is imported and made stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_sessionfinish() -> None:
    """Let libraries that count their objects at the end find them all."""
    gc.unfreeze()


@pytest.fixture
def fake_openai() -> Iterator[FakeOpenAI]:
    """A local OpenAI-compatible server; see tests/support/fake_openai.py."""
    with serving() as fake:
        yield fake


@pytest.fixture
def answering_here(fake_openai: FakeOpenAI) -> Iterator[None]:
    """The fake server answers this process without a socket; see tests/support/answering_here.py."""
    with answering_without_sockets(fake_openai):
        yield


@pytest.fixture
def decision_server() -> Iterator[DecisionServer]:
    """A local decision model with planted probabilities; see tests/support/decision_server.py."""
    with serving_decisions() as server:
        yield server


@pytest.fixture
def shared_data() -> Path:
    """The folder of the development data packs; skips where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs the development data in {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def ray_here() -> Iterator[None]:
    """A Ray with two CPUs, shared by all tests of a session; skips where it is not installed."""
    with started_ray():
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_browser() -> Iterator[None]:
    """The browser that tests share, started by the first one that opens a tab, ends with them."""
    yield
    close_browser()


@pytest.fixture
def tab() -> Iterator[Tab]:
    """A page in Chromium without a network; see tests/support/browser.py. Skips where there is none."""
    with opened_tab() as opened:
        yield opened


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server; see tests/support/postgres.py. Skips where there is none."""
    with serving_postgres() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the command runs in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def project(folder: Path, fake_openai: FakeOpenAI) -> Path:
    """A folder with settings that name the endpoint, a sheet of six answers and their labels."""
    (folder / "ragstone.toml").write_text(fake_openai.toml())
    answers = [
        Answer(
            question_id=f"q{n}",
            system="mine",
            question=f"What is {n}?",
            reference=f"number {n}",
            answer=f"It is number {n if n % 2 else n + 1}.",
            contexts=[Context(text=f"{n} is number {n}.", document_id=f"d{n}")],
        )
        for n in range(6)
    ]
    write_rows(folder / "answers.jsonl", answers, Answer)
    labels = [Label(question_id=f"q{n}", system="mine", metric="correctness", score=n % 2) for n in range(6)]
    write_rows(folder / "labels.jsonl", labels, Label)
    return folder
