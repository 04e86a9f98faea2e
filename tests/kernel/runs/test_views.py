"""What a saved view shows of a run."""

import pytest
from tests.kernel.serve.rows.test_filtering import folder, run  # noqa: F401 - fixtures

from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.views import View
from ragstone.workbench.views import save_view


@pytest.fixture
def views(tmp_path):
    return tmp_path / "views"


def test_a_run_shows_a_view_in_its_order_and_columns(views, run, monkeypatch, tmp_path, says):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    shown = View(
        name="by topic",
        where="correctness != none",
        order="-correctness",
        columns=["question_id", "topic", "correctness", "gone"],
    )
    save_view(views, shown, seen=None, who="ann")
    rows = run.view("by topic")
    assert list(rows.columns()) == ["question_id", "topic", "correctness"]
    assert [tuple(row.values()) for row in rows] == [
        ("q1", "Maize", 1.0),
        ("q2", None, 1.0),
        ("q4", "maize", 0.5),
        ("q1", "Maize", 0.0),
    ]
    assert run.view(views / "by topic.json") == rows
    save_view(views, View(name="none", where="nothing < 1"), seen=None, who="ann")
    with pytest.raises(DataError, match="no column 'nothing'"):
        run.view("none")
    save_view(views, View(name="else", columns=["gone"]), seen=None, who="ann")
    with pytest.raises(DataError, match="gone") as mistake:
        run.view("else")
    says(mistake.value)
    save_view(views, View(name="up", order="gone"), seen=None, who="ann")
    with pytest.raises(DataError, match="gone") as mistake:
        run.view("up")
    says(mistake.value)
    assert len(run.view(views / "by topic.json").to_polars()) == 4
