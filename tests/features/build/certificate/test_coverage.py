import msgspec
import pytest
from tests.support.builds import TEN, candidate, passage

from ragstone.features.build.certificate._coverage import answering_documents, coverage_of, five_of
from ragstone.kernel.dataset.certificate import Five

LONG = msgspec.structs.replace(passage("d1"), document_length=1000)


def test_the_accepted_of_ten():
    coverage = coverage_of(TEN)
    # d1 has two accepted questions, d2 one: its negative has no answer in it.
    assert (coverage.n_covered, coverage.most) == (2, ("d1", 2))
    assert coverage.per_document == Five(n=2, least=1, lower=1.25, middle=1.5, upper=1.75, greatest=2)
    groups = {
        by: [(group.value, group.n_accepted, group.n_written) for group in found]
        for by, found in coverage.groups.items()
    }
    assert groups == {
        "kind": [("answerable", 3, 9), ("negative", 1, 1)],
        "style": [("factoid", 2, 8), ("bloom", 1, 1), ("negative", 1, 1)],
        "level": [("remember", 1, 1)],
        "topic": [("maize", 2, 5), ("wheat", 2, 5)],
        "lang": [("de", 2, 5), ("en", 2, 5)],
    }
    assert coverage.found == {"exact": 2, "fuzzy": 1}
    # "How is rust treated?" 4, "In which month is it reaped?" 6, "Wann braucht Mais Wasser?" 4,
    # "Wie viel Dünger braucht Mais?" 5; answers: "with fungicide" 2, "July" 1, "zur Blüte" 2.
    assert coverage.question_lengths == five_of([4, 6, 4, 5])
    assert coverage.answer_lengths == five_of([2, 1, 2])


def test_evidence_is_placed_by_where_it_could_start():
    # Of 1000 characters, spans of 100 can start at 0 to 900: a fifth is 180 wide.
    spans = [(0, 100), (179, 279), (180, 280), (540, 640), (900, 1000), (0, 1000)]
    rows = [candidate(f"d1#{n}", "Q?", of=LONG, span=span) for n, span in enumerate(spans)]
    positions = coverage_of(rows).positions
    assert positions.fifths == [2, 1, 0, 1, 1]
    assert (positions.n_whole, positions.crowded) == (1, None)


@pytest.mark.parametrize(("n_first", "crowded"), [(20, 1), (12, None)])
def test_a_fifth_is_crowded_if_it_surely_holds_more_than_half_as_much_again(n_first, crowded):
    # 20 of 40: Wilson's interval begins at 0.35, above 1.5 times a fifth; 12 of 40: at 0.18.
    spans = [(0, 10)] * n_first + [(10 + 990 * n // 40, 20 + 990 * n // 40) for n in range(8, 48 - n_first)]
    rows = [candidate(f"d1#{n}", "Q?", of=LONG, span=span) for n, span in enumerate(spans[:40])]
    assert coverage_of(rows).positions.crowded == crowded


def test_scripts_without_spaces_are_counted_in_characters():
    coverage = coverage_of([candidate("d1#1", "玉米什么时候播种？", "四月")])
    assert coverage.question_lengths == five_of([8])
    assert coverage.answer_lengths == five_of([2])


def test_both_documents_of_two_hops_are_covered_and_none_of_a_negative():
    both = candidate("d1#1", "Which of the two?")
    both = msgspec.structs.replace(
        both, question=msgspec.structs.replace(both.question, document_ids=["d1", "d2"])
    )
    assert answering_documents(both) == ["d1", "d2"]
    assert answering_documents(candidate("d1#2", "How tall?", answerable=False)) == []


def test_nothing_accepted_is_nothing_covered():
    coverage = coverage_of([candidate("d1#1", "Q?", lost="duplicate")])
    assert (coverage.n_covered, coverage.most, coverage.per_document) == (0, None, None)
    assert coverage.positions.fifths == [0, 0, 0, 0, 0]
    assert [group.n_accepted for group in coverage.groups["kind"]] == [0]


def test_quartiles_lie_between_the_values():
    assert five_of([3]) == Five(n=1, least=3, lower=3, middle=3, upper=3, greatest=3)
    assert five_of([4, 1, 2, 3]) == Five(n=4, least=1, lower=1.75, middle=2.5, upper=3.25, greatest=4)
    assert five_of([]) is None
