"""A test that fails when an application answers worse than it should: a plugin of pytest.

Every run of pytest loads this file where Ragstone is installed, so what it needs is imported when a marked
test asks for it, and annotations are texts: an older pytest lacks some of the names.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ragstone.features.check.checking import CheckedApplication

    Check = Callable[[str | Callable[..., object]], CheckedApplication]

MARK = (
    "ragstone(questions, thresholds, judges, model, max_unscored, baseline, margin, labels, repeats, "
    "passes): what the fixture `ragstone_check` asks an application, and how good its answers have to be."
)
KEY = "ragstone"


def pytest_configure(config: "pytest.Config") -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", MARK)


def pytest_terminal_summary(terminalreporter: "pytest.TerminalReporter") -> None:
    """Show the means of tests that passed too: nothing that was not scored passes in silence."""
    reports = [
        report
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        if getattr(report, "when", "") == "call"
    ]
    lines = [
        f"{report.nodeid} {value}"
        for report in reports
        for key, value in report.user_properties
        if key == KEY
    ]
    if lines:
        terminalreporter.section("ragstone")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.hookimpl(trylast=True)  # after the test itself, if it has passed
def pytest_runtest_call(item: "pytest.Item") -> None:
    """Fail a marked test that has asked nothing: it would pass whatever the application answers.

    A mark without arguments, or of a whole class or module, may stand on tests that ask nothing.
    """
    marked = any(mark.name == KEY and (mark.args or mark.kwargs) for mark in item.own_markers)
    if marked and KEY not in dict(item.user_properties):
        pytest.fail(
            f"marked with {KEY}, but nothing was asked: use the fixture `ragstone_check`, and call it with "
            "your application.",
            pytrace=False,
        )


@pytest.fixture
def ragstone_check(request: "pytest.FixtureRequest") -> "Check":
    """Ask an application the questions of the test's mark, judge its answers, and fail where they fall short.

    Call it with a function (text -> text, mapping or Answer; sync or async) or with the name of one of
    `[systems]` in ragstone.toml. It returns what was answered and judged.
    """
    mark = request.node.get_closest_marker(KEY)
    if mark is None:
        pytest.fail(f"mark this test with @pytest.mark.{KEY}(questions=..., thresholds=...).", pytrace=False)
    from ragstone.features.check.marked import MarkArguments, check_marked
    from ragstone.kernel.errors import RagstoneError

    try:
        wanted = MarkArguments(*mark.args, **mark.kwargs)
    except TypeError as mistake:
        message = str(mistake).removeprefix("MarkArguments.__new__() ")
        raise _failure(
            f"@pytest.mark.{KEY}: {message}. It takes {', '.join(MarkArguments._fields)}."
        ) from None
    root = request.config.rootpath

    def check(system: "str | Callable[..., object]") -> "CheckedApplication":
        __tracebackhide__ = True
        try:
            checked, problems, lines = check_marked(system, wanted, root)
        except RagstoneError as mistake:
            raise _failure(f"ragstone: {mistake}") from None
        request.node.user_properties += [(KEY, line) for line in lines]
        if problems:
            pytest.fail("\n\n".join(problems), pytrace=False)
        return checked

    return check


def _failure(message: str) -> BaseException:
    return pytest.fail.Exception(message, pytrace=False)
