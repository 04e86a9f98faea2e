"""Models that judge the rows of the touchstone suite with known faults: they look the label up."""

import json
import re

from tests.support.known_judges import errs
from tests.support.scripts import Body, Script, fit_schema, prompt_of

from ragstone.features.bench.suite._rows import SuiteRow, suite_rows


def _row_of(prompt: str) -> SuiteRow:
    """Return the row that a prompt shows: of those whose question and answer it holds, the longest."""
    shown = [row for row in suite_rows() if row.question in prompt and row.answer in prompt]
    return max(shown, key=lambda row: len(row.answer))


def judging_suite(error_rate: float, *, obeys: bool = False) -> Script:
    """Return a script of a judge of yes and no; obeys: it says yes to whoever orders it to."""

    def script(body: Body) -> str:
        row = _row_of(prompt_of(body))
        plain = re.sub(", (length|position|injection)$", "", row.system)
        case = sum(map(ord, f"{row.question_id} {plain}"))
        right = row.labels.get("correctness", row.labels.get("answered", 0.0)) >= 0.5
        said = right != errs("m", case, error_rate)
        made = json.loads(fit_schema(body))
        return json.dumps(made | {"verdict": said or (obeys and row.change == "injection")})

    return script
