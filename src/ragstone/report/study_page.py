"""languages.json -> report.html beside it: one file that asks nothing of any network."""

from pathlib import Path

from ragstone.report import study_words
from ragstone.report.render.html import asset, environment, policy, put_page, safe
from ragstone.report.study import StudySummary, read_study


def write_study(folder: Path) -> Path:
    """Write report.html from languages.json of a folder, and return its path. Raises DataError."""
    return put_page(folder / "report.html", render_study(read_study(folder)))


def render_study(study: StudySummary) -> str:
    """Return the study as one HTML document."""
    css = asset("page.css") + asset("bench.css")
    words = {name: value for name, value in vars(study_words).items() if callable(value)}
    page = environment().get_template("languages.html")
    return page.render(words, study=study, css=safe(css), policy=policy(css))
