"""Figures that somebody else tells, read by the features: an odd one is absent, and its row is there."""

import math
import sqlite3

import pytest
from tests.kernel.llm.test_figures import figures_of
from tests.support.ledgers import key

from ragstone.features.ledger._account import read_account
from ragstone.features.watch._logged import Reader
from ragstone.kernel.config import MonitorSection, Settings
from ragstone.kernel.llm import Ledger
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.records import MOST, Answer, Usage
from ragstone.kernel.tables import parse_rows


@pytest.mark.parametrize(
    "figure", [10**19, -1, True, 2.5, 1e300, math.nan, math.inf, 10**400, [1], {}], ids=repr
)
def test_those_of_a_sheet_are_absent_and_the_row_is_there(figure):
    raw = {"question_id": "q", "question": "?", "answer": "yes", "latency_s": figure, "cost_usd": figure}
    raw |= {"usage": {"input": figure, "output": figure}}
    raw |= {"steps": [{"tool": "look", "arguments": {}, "seconds": figure, "tokens": figure}]}
    (row,) = parse_rows([raw], Answer)
    assert row.answer == "yes"
    assert row.usage is None or all(0 <= n <= MOST for n in figures_of(row.usage))
    assert all(one is None or 0 <= one <= MOST for one in (row.latency_s, row.cost_usd))
    (step,) = row.steps or ()
    assert all(one is None or 0 <= one <= MOST for one in (step.seconds, step.tokens))
    logged = Reader(MonitorSection(), b"key").read(raw)
    assert logged is not None
    told = (logged.usage.tokens, logged.usage.latency_s, logged.usage.usd)
    assert all(one is None or 0 <= one <= MOST for one in told)


async def test_a_ledger_with_such_a_response_works_again(tmp_path):
    """As an older version stored it: in the table, with a checksum that is right."""
    path = tmp_path / "l.sqlite"
    Ledger(path).close()
    said = b'{"text":"yes","usage":{"input":10,"output":10000000000000000000,"cached":-9}}'
    from ragstone.kernel.llm.ledger import with_checksum

    with sqlite3.connect(path) as connection:
        row = with_checksum((key(1), "openai/m", said, 1e9))
        connection.execute("INSERT INTO responses VALUES (?, ?, ?, ?, ?)", row)
        connection.execute("INSERT INTO hits VALUES (1, 'openai/m', 3, 10, 1e19, -9, 0)")
    connection.close()
    ledger = Ledger(path)
    found = await ledger.find(key(1))
    assert found is not None
    assert (found.text, found.usage) == ("yes", Usage())
    await ledger.put(key(2), "openai/m", Completion(text="no", usage=Usage(input=3, output=4)))
    ledger.close()
    account = read_account(path, Settings())
    made, hits = account.total.made, account.total.hits
    assert (account.responses, made.input, made.output, made.uncounted) == (2, 3, 4, 1)
    assert (hits.calls, hits.output, hits.uncounted) == (4, 0, 4)
    assert account.total.spent_usd is None
