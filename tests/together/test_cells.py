"""Every reader of tables takes the guard off that our CSV files put before a formula."""

from ragstone.features.import_._sheets import open_sheet
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import write_rows
from ragstone.kernel.tables.logs.reading import LENIENT


def test_every_reader_of_tables_takes_the_guard_off(tmp_path):
    path = tmp_path / "a.csv"
    write_rows(path, [Answer(question_id="q1", answer="=1", question="- why?", system="@x")], Answer)
    ((_, logged),) = LENIENT[".csv"](path)
    ((_, imported),) = open_sheet(path).rows
    logged = {name: cell for name, cell in logged.items() if cell is not None}
    assert logged == imported == {"question_id": "q1", "answer": "=1", "question": "- why?", "system": "@x"}
