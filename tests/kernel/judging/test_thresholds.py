"""A threshold is one of its judge's scale, wherever one is given and wherever we show one."""

import re
from pathlib import Path

from tests.support.label_rows import judgement, label

from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.judging import load_judge
from ragstone.kernel.judging.thresholds import fits, off_scale

ROOT = Path(__file__).parents[3]
SHOWN = [
    *(ROOT / "docs").glob("*/*.md"),
    *(ROOT / "examples").rglob("*.toml"),
    *(ROOT / "examples").rglob("*.sh"),
    *(ROOT / "src/ragstone/features").rglob("*.py"),
    *(ROOT / "src/ragstone/cli").rglob("*.py"),
    ROOT / "README.md",
]
OPTION = re.compile(r"--threshold '?([\w@,.=-]+)=([\d.]+)")
TABLE = re.compile(r"thresholds ?= ?\{\{?([^}]*)\}")
ENTRY = re.compile(r"['\"]?([a-z_][\w@,.=-]*?)['\"]? ?[=:] ?([\d.]+)")


def _examples():
    for path in SHOWN:
        text = path.read_text(encoding="utf-8")
        found = OPTION.findall(text)
        for table in TABLE.findall(text):
            found += ENTRY.findall(re.sub(r'"([\w-]+)@[^"]*"', r"\1", table))
        for name, number in found:
            yield path.relative_to(ROOT), name, float(number)


def test_every_threshold_that_is_shown_is_one_of_its_judges_scale():
    seen = wrong = 0
    told = []
    for path, name, number in _examples():
        try:
            judge = load_judge(name)
        except RagstoneError:
            continue  # a judge of the page's own
        seen += 1
        if not fits(number, judge.scale):
            wrong += 1
            told.append(f"{path}: {off_scale(name, number, judge.scale)}")
    assert seen > 8
    assert not told


def test_what_was_meant_is_asked(says):
    says(off_scale("correctness", 0.5, (0, 100)))
    says(off_scale("containment", 60, (0, 1)))
    assert "mean" not in off_scale("rubric", 60, (1, 5)), "60 of what?"
    assert "mean" not in off_scale("containment", 101, (0, 1))
    assert label("q", 1).score == judgement("q", 1).score
