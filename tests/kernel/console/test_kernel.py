"""In a real Jupyter kernel: results show themselves, a loop may be running, an interrupt loses nothing."""

import time
from collections.abc import Iterator

import pytest

pytest.importorskip("ipykernel")
from jupyter_client.manager import KernelManager, start_new_kernel

pytestmark = [
    pytest.mark.server,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning"),
]
WAIT_S = 60


class Kernel:
    """A kernel, and what its cells show."""

    def __init__(self, manager: KernelManager, client) -> None:
        self.manager, self.client = manager, client

    def start(self, code: str) -> str:
        return self.client.execute(code)

    def outputs(self, asked: str) -> list[dict]:
        """Return what a cell shows, until it has ended."""
        found = []
        while True:
            message = self.client.get_iopub_msg(timeout=WAIT_S)
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return found
            if kind in ("display_data", "execute_result", "stream", "error", "update_display_data"):
                found.append({"kind": kind, **content})

    def run(self, code: str) -> list[dict]:
        return self.outputs(self.start(code))


@pytest.fixture(scope="module")
def kernel(tmp_path_factory) -> Iterator[Kernel]:
    manager, client = start_new_kernel(cwd=str(tmp_path_factory.mktemp("notebook")))
    try:
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


ROWS = '[{"question": "Who wrote Emma?", "reference": "Jane Austen", "answer": "Jane Austen"}]'


def test_judgements_are_shown_as_a_table_and_a_chart_and_nothing_else(kernel):
    code = f'import ragstone\nragstone.judge({ROWS}, judges=["containment", "token_f1"])'
    shown = kernel.run(code)
    assert [one["kind"] for one in shown] == ["display_data", "display_data"]
    table, chart = (one["data"] for one in shown)
    assert sorted(table) == ["text/html", "text/plain"]
    assert "<table>" in table["text/html"]
    assert sorted(chart) == ["application/vnd.vegalite.v5+json", "image/svg+xml", "text/plain"]


def test_it_works_in_the_loop_that_runs_there_also_awaited_code(kernel):
    code = (
        "import asyncio\n"
        "asyncio.get_running_loop()\n"
        f'found = ragstone.judge({ROWS}, judges=["containment"])\n'
        "await asyncio.sleep(0)\n"
        "print(found[0].score)"
    )
    assert kernel.run(code) == [{"kind": "stream", "name": "stdout", "text": "1.0\n"}]


def test_an_interrupt_keeps_what_was_paid_for_and_leaves_the_kernel_usable(kernel, fake_openai):
    fake_openai.latency_s = 0.05
    asking = f"""
import os
os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"] = {fake_openai.base_url!r}, "none"
rows = [{{"question": f"Q{{n}}?", "reference": "a", "answer": f"b{{n}}"}} for n in range(1500)]
found = ragstone.judge(rows, judges=["correctness"], model="openai/fake")
"""
    kernel.run("import ragstone")
    asked = kernel.start(asking)
    while fake_openai.n_requests < 20:
        time.sleep(0.05)
    kernel.manager.interrupt_kernel()
    shown = kernel.outputs(asked)
    assert [one["ename"] for one in shown] == ["KeyboardInterrupt"]
    assert fake_openai.n_requests < 1500
    fake_openai.latency_s = 0
    assert kernel.run(asking) == []  # nothing printed, no bar, no warning
    assert kernel.run("print(len(found), {row.status for row in found})")[0]["text"] == "1500 {'scored'}\n"
    assert fake_openai.n_asked_again == 0  # no call that had come home was made again


def test_progress_is_one_line_that_is_redrawn_and_does_not_flood(kernel, fake_openai):
    fake_openai.latency_s = 0.02
    shown = kernel.run(f"""
import ragstone, os
os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"] = {fake_openai.base_url!r}, "none"
rows = [{{"question": f"P{{n}}?", "reference": "a", "answer": f"b{{n}}"}} for n in range(300)]
found = ragstone.judge(rows, judges=["correctness"], model="openai/fake", progress=ragstone.progress_line)
""")
    assert [one["kind"] for one in shown].count("display_data") == 1
    assert shown[-1]["data"] == {"text/plain": "judge correctness: 300 of 300, 300 calls"}
    assert len({one["transient"]["display_id"] for one in shown}) == 1
    assert len(shown) < 40  # of 300 rows, twice a second
