import msgspec
from rich.cells import cell_len
from tests.support.surfaces import shown
from tests.support.tiny_run import VERDICTS, judgement, summary_of

from ragstone.features.judge.words import judged_document
from ragstone.kernel.records import Verdict

CLAIMS = [
    Verdict(id=1, statement="Fungicide treats rust.", supported=False, of="answer"),
    Verdict(id=2, statement="It is sown in\tOctober.", supported=False, of="reference"),
    Verdict(id=3, statement="It is yellow.", supported=True, of="reference"),
]
CONTEXTS = [
    Verdict(id=1, statement="Rust is…", supported=True, context=1, of="contexts"),
    Verdict(id=2, statement="Test the soil…", supported=False, context=2, of="contexts"),
]


def printed(summary, width=80):
    return shown(judged_document(summary), width)


def lines(*rows):
    part = (
        printed(summary_of(list(rows)), 120).partition("Statements without support\n")[2].partition("\n\n")[0]
    )
    return [line.rstrip() for line in part.splitlines()]


def test_statements_are_counted_and_the_first_without_support_shown_by_question(says):
    says(lines(judgement("q1", "faithfulness", 0.5, verdicts=VERDICTS), judgement("q1", "correctness", 1)))


def test_claims_and_contexts_are_told_in_their_own_words(says):
    says(
        lines(
            judgement("q1", "claims", 0, verdicts=CLAIMS),
            judgement("q1", "context_relevance", 0.5, verdicts=CONTEXTS),
        )
    )


def test_of_several_systems_each_is_named(says):
    rows = [judgement("q1", "faithfulness", 0.5, system=name, verdicts=VERDICTS[:1]) for name in ("a", "b")]
    says(lines(*rows))


def test_text_from_outside_is_short_and_no_command_to_the_terminal():
    evil = "\x1b[2J\x9b[31m[bold]" + "long " * 60
    row = judgement(evil, "faithfulness", 0, verdicts=[Verdict(id=1, statement=evil, supported=False)])
    [_, line] = lines(row)
    assert cell_len(line) <= 80
    assert not {"\x1b", "\x9b"}.intersection(line)


def test_the_terminal_shows_them_after_the_means(summary):
    text = printed(summary)
    places = [
        text.index(words) for words in ("faithfulness", "Statements without support", "Before you trust")
    ]
    assert places == sorted(places)
    assert "q1: It is cheap." in text
    bare = [msgspec.structs.replace(one, unsupported=[]) for one in summary.metrics]
    assert "Statements without support" not in printed(msgspec.structs.replace(summary, metrics=bare))
