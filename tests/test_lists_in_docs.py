"""Lists that pages write by hand and that the code closes: causes, statuses, methods, tools."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from ragstone.features.attack._families import load_families
from ragstone.features.attack._probes import PROBES
from ragstone.features.build._critic import critic_names
from ragstone.features.build._styles import style_names
from ragstone.features.import_._recognise import FORMATS
from ragstone.features.improve.learned import LearningMethod
from ragstone.features.label._choosing import WAYS
from ragstone.features.sample.drawing import By
from ragstone.features.simulate._persona import Persona
from ragstone.features.watch._alarms import Alarm
from ragstone.kernel.config import SystemSettings
from ragstone.kernel.config.bench import Condition
from ragstone.kernel.config.serving import Role
from ragstone.kernel.corpus.chunking import CHUNKERS
from ragstone.kernel.dataset._spans import State
from ragstone.kernel.dataset.candidate import REASONS
from ragstone.kernel.judging.combined import COMBINED
from ragstone.kernel.judging.fields import Order
from ragstone.kernel.judging.signs import PROPERTIES
from ragstone.kernel.judging.variant import OPTIONS
from ragstone.kernel.records import Status
from ragstone.kernel.retrieval.measures import MEASURES
from ragstone.kernel.runs.causes import Cause
from ragstone.mcp.server import READING, SPENDING

DOCS = Path(__file__).parent.parent / "docs"
PRIVATE = re.compile(r"\bragstone(?:\.\w+)*\.(_\w+)")


def table_of(page: str, heading: str) -> list[list[str]]:
    """Return the rows of the first table below a heading, without its head."""
    text = (DOCS / page).read_text(encoding="utf-8")
    _, found, below = text.partition(f"# {heading}\n")
    assert found, f"{page} has no heading {heading!r}"
    table = re.search(r"^\|.*\n\|[-: |]+\n((?:\|.*\n)+)", below, re.MULTILINE)
    assert table, f"{page} has no table below {heading!r}"
    return [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in table[1].splitlines()]


def names_in(cells: Iterable[str]) -> list[str]:
    """Return the names of cells: each between marks of code or of stress, or else a whole cell."""
    return [name for cell in cells for name in re.findall(r"[`*]+([^`*]+)[`*]+", cell) or [cell]]


LISTS = {
    ("explanation/blame.md", "Causes"): get_args(Cause),
    ("explanation/alarms.md", "What an alarm says"): Alarm.__struct_fields__,
    ("explanation/attacks.md", "What is tried"): [family.name for family in load_families()],
    ("explanation/critics.md", "The critics"): critic_names(),
    ("explanation/questions.md", "Styles"): style_names(),
    ("how-to/attacks.md", "Probes of bias"): PROBES,
    ("how-to/agents.md", "What is expected"): get_args(Order),
    ("how-to/bench-answerers.md", "Conditions"): get_args(Condition),
    ("how-to/chunking.md", "Methods"): CHUNKERS,
    ("how-to/accounts.md", "Roles"): get_args(Role),
    ("how-to/combining-judges.md", "A jury"): COMBINED,
    ("how-to/import.md", "What is read"): {*FORMATS, "verdicts"},
    ("how-to/judge-development.md", "Let labels do it"): get_args(LearningMethod),
    ("how-to/keep-sets.md", "Refresh"): get_args(State),
    ("how-to/labelling.md", "Which answers"): {*WAYS, "--compare"},
    ("how-to/mcp.md", "Work with a coding agent"): {*READING, *SPENDING},
    ("how-to/sampling.md", "How questions are chosen"): get_args(By),
    ("how-to/simulated-users.md", "Personas"): Persona.__struct_fields__,
    ("reference/judge-files.md", "Variants"): OPTIONS,
    ("reference/model-calls.md", "Statuses"): get_args(Status),
    ("reference/retrieval-measures.md", "Measures by document"): MEASURES,
    ("reference/systems.md", "Systems"): [
        msgspec.inspect.type_info(kind).tag for kind in get_args(SystemSettings)
    ],
}


@pytest.mark.parametrize(("page", "heading"), LISTS)
def test_table_lists_what_there_is(page, heading):
    cells = [row[0].replace(",samples", "`, `samples") for row in table_of(page, heading)]
    assert sorted(re.split("[@=]", name)[0] for name in names_in(cells)) == sorted(LISTS[page, heading])


def test_measures_of_signs_are_those_that_there_are():
    _, _, below = (DOCS / "reference/judge-files.md").read_text("utf-8").partition("| `measure` | is |\n")
    table = below.partition("\n\n")[0].splitlines()[1:]
    assert sorted(names_in(row.split(" | ")[0].strip("| ") for row in table)) == sorted(PROPERTIES)


@pytest.mark.parametrize("page", ["explanation/checks.md", "explanation/facts.md"])
def test_reasons_why_a_question_is_lost_are_those_of_a_build(page):
    heading = {"checks.md": "What is looked for", "facts.md": "True statements"}[Path(page).name]
    assert set(names_in(row[0] for row in table_of(page, heading))) <= set(REASONS)


def test_no_page_tells_a_reader_to_import_a_private_module():
    pages = [page for page in DOCS.rglob("*.md") if page.parent.name != "decisions"]
    found = [
        f"{page.name}: {name[0]}" for page in pages for name in PRIVATE.finditer(page.read_text("utf-8"))
    ]
    assert not found
