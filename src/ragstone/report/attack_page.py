"""attack.json -> attack.html beside it: one file that asks nothing of any network."""

from pathlib import Path

from ragstone.report import attack_words
from ragstone.report.attack import AttackSummary, read_attack
from ragstone.report.html import asset, environment, policy, put_page, safe


def write_attack(folder: Path) -> Path:
    """Write attack.html from attack.json of a folder, and return its path. Raises DataError."""
    return put_page(folder / "attack.html", render_attack(read_attack(folder)))


def render_attack(summary: AttackSummary) -> str:
    """Return the attack as one HTML document. Its texts are hostile: each is escaped, and none is markup."""
    css = asset("page.css") + asset("bench.css")
    words = {name: value for name, value in vars(attack_words).items() if callable(value)}
    page = environment().get_template("attack.html")
    return page.render(words, summary=summary, css=safe(css), policy=policy(css))
