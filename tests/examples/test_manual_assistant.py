"""The assistant for a software manual: its questions are of its documents, and it does as its README says."""

import asyncio
import json
import re
import shutil
from pathlib import Path

import pytest

from ragstone.kernel.config import load_settings
from ragstone.kernel.records import Turn
from ragstone_assistant import Asked, build_knowledge, open_assistant
from ragstone_assistant.conversation import Said, silent

EXAMPLE = Path(__file__).parents[2] / "examples" / "manual-assistant"
QUESTIONS = [json.loads(line) for line in (EXAMPLE / "questions.jsonl").read_text().splitlines()]
SPREAD = 2  # questions that end otherwise on another processor: vectors differ in their last digits


def counted(row: str) -> int:
    """Return n of `n of m` in a row of README's table."""
    [n] = re.findall(rf"^\| {row}.* \| (\d+) of \d+ ", (EXAMPLE / "README.md").read_text(), re.MULTILINE)
    return int(n)


def test_what_a_right_answer_contains_stands_in_the_document_that_is_named():
    inside = [row for row in QUESTIONS if row["answerable"]]
    assert (len(inside), len(QUESTIONS)) == (26, 40)
    for row in inside:
        [document] = row["document_ids"]
        text = (EXAMPLE / document).read_text()
        assert any(part in text for part in row["expect"]["contains_any"]), row


@pytest.fixture(scope="module")
def replies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Said]:
    folder = tmp_path_factory.mktemp("manual") / "manual"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(".ragstone", "logs", "runs"))
    settings = load_settings(folder / "ragstone.toml")
    build_knowledge(settings=settings)

    async def ask() -> dict[str, Said]:
        async with open_assistant(settings) as assistant:
            return {
                row["id"]: await assistant.respond(Asked(turns=(Turn("user", row["question"]),)), silent)
                for row in QUESTIONS
            }

    return asyncio.run(ask())


@pytest.mark.model
def test_it_answers_and_declines_as_readme_says(replies):
    right = sum(
        any(part in replies[row["id"]].text for part in row["expect"]["contains_any"])
        for row in QUESTIONS
        if row["answerable"]
    )
    declined = sum(not replies[row["id"]].citations for row in QUESTIONS if not row["answerable"])
    assert abs(right - counted("the quote contains")) <= SPREAD
    assert abs(declined - counted("declined")) <= SPREAD
