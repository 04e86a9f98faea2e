"""How many lines the screen of each command has: as it is, and with --all.

    python -m benchmarks.screens [COMMAND...]

Every example of the help is run in the folder of tests/support/reader.py, with a local model that answers at
once, at 80 columns without colour. Lines of standard error come beside those of the result; each is counted
once, however long it is.
"""

import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from tests.support.command import every_command
from tests.support.examples import commands, examples, place, reply, run_example
from tests.support.fake_openai import serving
from tests.support.reader import build

from ragstone.kernel.console import printing

WIDTH = 80


def main(wanted: list[str]) -> None:
    """Print a line for each example of the commands that are wanted, or of all."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    printing.PIPED_WIDTH = WIDTH
    print(f"{'lines':>5} {'--all':>6} {'stderr':>7}  example")
    with serving() as fake, tempfile.TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
        fake.script = reply
        patch.setenv("OPENAI_API_KEY", "test")
        patch.setenv("OPENAI_BASE_URL", fake.base_url)
        reader = Path(made, "reader")
        reader.mkdir()
        build(reader, fake.base_url)
        known = dict(commands(every_command()))
        for name, words in examples():
            if wanted and not any(words.startswith(start) for start in wanted):
                continue
            whole = any("--all" in parameter.opts for parameter in known[name].params)
            counted = [_lines(reader, words, Path(made, "brief"))]
            counted += [_lines(reader, f"{words} --all", Path(made, "whole"))] if whole else []
            (lines, told), every = counted[0], f"{counted[-1][0]}" if whole else ""
            print(f"{lines:>5} {every:>6} {told:>7}  {words}", flush=True)


def _lines(reader: Path, words: str, folder: Path) -> tuple[int, int]:
    """Return the lines of a command's result, and of what it says beside."""
    shutil.rmtree(folder, ignore_errors=True)
    ran = run_example(place(shutil.copytree(reader, folder), words), words)
    return len(ran.out.splitlines()), len(ran.err.splitlines())


if __name__ == "__main__":
    main(sys.argv[1:])
