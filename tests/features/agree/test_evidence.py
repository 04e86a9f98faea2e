from pathlib import Path

import msgspec
from tests.support.label_rows import sheets

from ragstone.features.agree._evidence import with_findings
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.grading import report_cards


def card_of(version: int = 1) -> ReportCard:
    judgements, labels = sheets([1, 0] * 20, [1, 0] * 19 + [0, 1])
    rows = [msgspec.structs.replace(row, prompt_version=version) for row in judgements]
    (card,) = report_cards(rows, labels, resamples=200)
    return card


def test_files_that_hold_something_else_are_passed_over(tmp_path: Path) -> None:
    for name in ("attack.json", "bench/bench.json"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"judges": 3, "board": [')
    before = card_of()
    assert with_findings([before], tmp_path) == [before]
