"""The golden files themselves: each sentence belongs to a test, and is read as it was written."""

import re
from pathlib import Path

from tests.support.golden import GOLDEN, read_sentences, sentences_of, write_sentences

ROOT = Path(__file__).parents[1]
MODULES = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("packages/*/assistant_tests/**/test_*.py")]


def test_every_sentence_belongs_to_a_test():
    modules = {sentences_of(module): module for module in MODULES}
    lost = []
    for file in sorted((GOLDEN / "sentences").glob("*.txt")):
        text = modules[file].read_text(encoding="utf-8") if file in modules else ""
        names = {*re.findall(r"^ *(?:async )?def (\w+)", text, re.MULTILINE)}
        lost += [
            f"{file.name}: {test}" for test in read_sentences(file) if test.partition("[")[0] not in names
        ]
    assert lost == []


def test_sentences_are_read_as_they_are_written(tmp_path):
    golden = {"test_b[x]": ["one\n\ntwo", "three"], "test_a": ["first"]}
    write_sentences(tmp_path / "a.txt", golden)
    assert read_sentences(tmp_path / "a.txt") == golden


def test_a_text_that_is_not_the_golden_one_fails(says):
    says("A text that stands in a golden file.")
