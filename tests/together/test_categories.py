"""Scores that only number labels, outside of the report: blame, and MLflow."""

import pytest
from tests.features.report.test_categories import rows
from tests.support.tiny_run import summary_of

import ragstone
from ragstone.features.blame._plan import _leads
from ragstone.features.export.mlflow import metrics_of
from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.summary import RunSummary


@pytest.fixture
def summary() -> RunSummary:
    return summary_of(rows())


def test_blame_says_that_no_label_is_wrong(summary, says) -> None:
    with pytest.raises(DataError) as mistake:
        _leads(summary, None)
    says(mistake.value)


def test_mlflow_gets_each_share(write_run) -> None:
    metrics = metrics_of(ragstone.read_run(write_run(judgements=rows(), summary=summary_of(rows()))))
    assert metrics["question_type/create/mean"] == 0.5
    assert "question_type/mean" not in metrics
