import sys

from ragstone.kernel.console.progress_line import progress_line


class Terminal:
    """Standard error as a terminal has it, and all that was written to it."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_a_terminal_shows_one_line_a_stage(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_line("judge containment", 1000) as advance:
        for _ in range(1000):
            advance()
    assert terminal.text.endswith("judge containment: 1,000 of 1,000\n")
    assert terminal.text.count("\n") == 1
    assert terminal.text.count("\r") < 20


def test_a_stage_of_unknown_length_is_counted(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_line("ingest", None) as advance:
        advance()
    assert terminal.text.endswith("ingest: 1\n")


def test_where_nobody_looks_nothing_is_shown(capsys):
    with progress_line("judge", 3) as advance:
        advance()
    assert capsys.readouterr() == ("", "")
