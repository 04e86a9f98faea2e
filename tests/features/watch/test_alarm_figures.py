"""The benchmark of alarms runs: benchmarks/monitor_alarms.py is what docs/explanation/alarms.md quotes."""

import sys

import pytest
from benchmarks import monitor_alarms


@pytest.mark.simulation
def test_the_figures_of_the_docs_can_be_printed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["monitor_alarms", "--quick"])
    monitor_alarms.main()
    printed = capsys.readouterr().out
    assert "1 of 1 years without a false alarm" in printed
    assert "judge, faithfulness, 400 canaries" in printed
