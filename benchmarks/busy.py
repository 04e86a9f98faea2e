"""The packaged models on a busy machine: threads that spin while they wait, and threads that sleep.

    python benchmarks/busy.py [--beside 4]

Each row is the median of three fresh processes, while `beside` others compute. The model writes
ten tokens, the embedder reads sixteen short texts.
"""

import argparse
import os
import statistics
import subprocess
import sys

WORK = {
    "embedder": """
from ragstone.kernel.embedding._packaged import _load
model = _load()
texts = ["Maize needs most of its water when it flowers. " * 6 + str(n) for n in range(16)]
work = lambda: model.passage(texts)
""",
    "model": """
from ragstone.kernel.llm.llamacpp import _load, resolve_gguf
server = _load(resolve_gguf("smollm2-135m"), 1, 1024)
asked = {"messages": [{"role": "user", "content": "Tell me about maize."}], "max_tokens": 10, "stream": True}
work = lambda: server.handle_chat_completions(asked, lambda chunk: False)
""",
}
TIMED = "\nimport time\nstarted = time.perf_counter()\nwork()\nprint(time.perf_counter() - started)"


def seconds(work: str, policy: str) -> float:
    """Return the median seconds of a piece of work, model loaded."""
    environ = os.environ | {"OMP_WAIT_POLICY": policy}
    runs = [subprocess.check_output([sys.executable, "-c", work + TIMED], env=environ) for _ in range(3)]
    return statistics.median(float(run.split()[-1]) for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=int, default=4, help="busy processes on the loaded machine")
    chosen = parser.parse_args()
    print(f"{'':10}{'beside':>8}{'spinning, s':>14}{'sleeping, s':>14}{'ratio':>8}")
    for beside in (0, chosen.beside):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(beside)]
        try:
            for name, work in WORK.items():
                spinning, sleeping = seconds(work, "active"), seconds(work, "passive")
                print(f"{name:10}{beside:8}{spinning:14.2f}{sleeping:14.2f}{spinning / sleeping:8.1f}")
        finally:
            for one in busy:
                one.kill()


if __name__ == "__main__":
    main()
