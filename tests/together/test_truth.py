"""The summary shows what was said of true and of false statements."""

from tests.kernel.judging.test_truth import ANSWERS, _judged

from ragstone.features.judge.words import beside_means
from ragstone.kernel.judging import summarise


def test_summary_shows_what_was_said_of_true_and_of_false_statements():
    judgements, _ = _judged("verdict", ANSWERS)
    blocks = beside_means(summarise(judgements))
    table = "\n".join(str(cell) for row in blocks[1].rows for cell in row)
    assert [part in table for part in ("1 / 1 / 0", "1 / 2 / 1", "0.67")] == [True] * 3
