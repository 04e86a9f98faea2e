"""The benchmark of alarms runs: benchmarks/monitor_alarms.py is what docs/explanation/alarms.md quotes."""

import sys

import pytest
from benchmarks import monitor_alarms
from tests.support.golden import sentence_in


@pytest.mark.simulation
def test_the_figures_of_the_docs_can_be_printed(monkeypatch, capsys, says):
    monkeypatch.setattr(sys, "argv", ["monitor_alarms", "--quick"])
    monitor_alarms.main()
    printed = capsys.readouterr().out
    says(sentence_in(printed, "1 of 1"))
    says(sentence_in(printed, "400 canaries"))
