"""What a newcomer does with wheels alone: `python tests/newcomer.py dist [--extras serve,assistant]`.

It makes an environment without anything of this checkout, installs the wheels of the folder there (what they
depend on comes from the package registry), and goes from a file of answers to a report in three commands;
then the demo, a new project, the schema, every public name. It needs the standard library alone, so that it
runs with each Python that a release is for. Exit code 1, and what failed, where a step does not hold.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS = [
    ("When is wheat sown?", "Wheat is sown in October.", "in October"),
    ("How deep do wheat seeds go?", "Three centimetres.", "three centimetres"),
    ("Which pest harms wheat?", "I do not know.", "aphids"),
]
# Each public name is there, or its absence names the command that installs it.
NAMES = """
import importlib.util, ragstone, ragstone.kernel.errors as errors
from pathlib import Path
lacking = []
for name in ragstone.__all__:
    try:
        getattr(ragstone, name)
    except errors.MissingExtra as reason:
        assert "pip install" in str(reason), reason
        lacking.append(name)
place = Path(ragstone.__file__).resolve()
print(ragstone.__version__, len(ragstone.__all__), ",".join(lacking), place, sep="|")
"""


class Failed(Exception):
    """A step does not hold."""


class Environment:
    """A fresh virtual environment in a folder. python, program: its executables."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
        programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        self.folder, self.python, self.program = folder, programs / "python", programs / "ragstone"
        allowed = {"PATH", "LANG", "TMPDIR", "SYSTEMROOT"}
        self.variables = {name: os.environ[name] for name in allowed & os.environ.keys()}
        self.variables |= {"HOME": str(folder), "COLUMNS": "200", "PYTHONWARNINGS": "error::SyntaxWarning"}

    def install(self, *requirements: str, wheels: Path) -> None:
        """Install requirements; the folder of wheels is a place to look besides the registry."""
        # What is never imported need not be compiled; what is, is compiled then, with warnings as errors.
        command = [self.python, "-m", "pip", "install", "-q", "--no-compile", "--retries", "2"]
        command += ["--find-links", wheels]
        installed = subprocess.run([*command, *requirements], capture_output=True, text=True, check=False)
        if installed.returncode:
            raise Failed(f"pip install {' '.join(requirements)}:\n{installed.stderr[-3000:]}")

    def run(self, *words: str, python: bool = False, says: str = "", cwd: Path | None = None) -> str:
        """Run the program, or Python, from outside of any checkout. Return what it printed.

        Raises: Failed, for another exit code than 0, a traceback, or where it does not say `says`.
        """
        began = time.monotonic()
        ended = subprocess.run(
            [self.python if python else self.program, *words], cwd=cwd or self.folder, env=self.variables,
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=300, check=False,
        )  # fmt: skip
        output = ended.stdout + ended.stderr
        name = "python: public names" if python else "ragstone " + " ".join(words)
        if ended.returncode or "Traceback" in output or says not in output:
            raise Failed(f"{name}: exit code {ended.returncode}, expected to say {says!r}:\n{output[-3000:]}")
        print(f"ok  {time.monotonic() - began:5.1f} s  {name}", flush=True)
        return ended.stdout


def public_names(environment: Environment) -> tuple[str, list[str]]:
    """Return the version and the public names that lack an extra. All names come from the environment."""
    version, n_names, lacking, file = environment.run("-I", "-c", NAMES, python=True).strip().split("|")
    if environment.folder.resolve() not in Path(file).parents:
        raise Failed(f"ragstone was imported from {file}, not from the wheel")
    if int(n_names) < 100:
        raise Failed(f"the wheel has {n_names} public names")
    return version, [name for name in lacking.split(",") if name]


def first_report(environment: Environment) -> None:
    """From a file of answers to a report of it: two commands after the installation."""
    folder = environment.folder / "own"
    folder.mkdir()
    with (folder / "answers.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("question", "answer", "reference"), *ROWS])
    environment.run("judge", "answers.csv", "--judge", "containment", cwd=folder, says="3 of 3")
    environment.run("report", "runs/answers", cwd=folder)
    page = (folder / "runs" / "answers" / "report.html").read_text("utf-8")
    missing = [question for question, _answer, _reference in ROWS if question not in page]
    if missing:
        raise Failed(f"the report does not show {missing}")


def walk(environment: Environment) -> None:
    """All that a newcomer tries first."""
    environment.run("--help", says="demo")
    first_report(environment)
    environment.run("demo", says="Is it right?")
    environment.run("new", "mine", says="ragstone run")
    for name in ("ragstone.toml", "questions.jsonl", "AGENTS.md"):
        if not (environment.folder / "mine" / name).is_file():
            raise Failed(f"`ragstone new` wrote no {name}")
    schema = json.loads(environment.run("schema", "settings"))
    if "properties" not in schema and "$defs" not in schema:
        raise Failed("`ragstone schema settings` printed no schema")
    environment.run("judges", "list", says="faithfulness")
    environment.run("doctor", says="ragstone[serve]")


def check(dist: Path, folder: Path, extras: str) -> str:
    """Go through all steps. Return the version that was installed."""
    [wheel] = dist.glob("ragstone-*.whl")
    began = time.monotonic()
    environment = Environment(folder)
    environment.install(str(wheel), wheels=dist)
    print(f"ok  {time.monotonic() - began:5.1f} s  pip install {wheel.name}", flush=True)
    version, lacking = public_names(environment)
    if wheel.name.split("-")[1] != version:
        raise Failed(f"{wheel.name} holds version {version}")
    walk(environment)
    if extras:
        if not lacking:
            raise Failed("no public name lacks an extra: is the environment fresh?")
        environment.install(f"{wheel}[{extras}]", wheels=dist)
        print(f"ok          pip install '{wheel.name}[{extras}]'", flush=True)
        _version, lacking = public_names(environment)
        if lacking:
            raise Failed(f"still lacking with [{extras}]: {lacking}")
        environment.run("serve", "--help", says="--port")
        environment.run("assistant", "--help", says="build")
    return version


def main() -> int:
    """Read the arguments, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dist", type=Path, help="the folder of the wheels")
    parser.add_argument("--extras", default="", help="go on with these extras, and import every name")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder:
        try:
            version = check(arguments.dist.resolve(), Path(folder), arguments.extras)
        except Failed as reason:
            print(f"FAILED  {reason}", file=sys.stderr)
            return 1
    print(f"ragstone {version} on Python {sys.version.split()[0]}: a newcomer gets on with the wheels alone")
    return 0


if __name__ == "__main__":
    sys.exit(main())
