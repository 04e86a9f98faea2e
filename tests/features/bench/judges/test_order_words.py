import msgspec
from tests.support.judged_cells import board_of, cell, judged
from tests.support.surfaces import shown
from tests.support.system_sheets import sheet_of

from ragstone.features.bench.judges._choice import choose
from ragstone.features.bench.judges._order_words import conclusions, order_blocks
from ragstone.features.bench.judges._orders import order_systems, orders_elsewhere
from ragstone.features.bench.judges._use_cases import compare_boards
from ragstone.kernel.document.blocks import ReportDocument
from ragstone.kernel.document.markdown import render_markdown

HUMAN = [0, 1] * 20
PEOPLE = [[1, at % 2, 0] for at in range(10)]
WIDE = [[100, 60, 20]] * 10
TURNED = [[10, 50, 90]] * 10


def board(*, orders, elsewhere=()):
    """Return a board of a judge on two scales and another judge, with what they say of systems."""
    cells = [
        judged(cell("j@scale=0-100", base="j", scale=(0, 100)), [100.0 * each for each in HUMAN]),
        judged(cell("j@scale=0-3", base="j", scale=(0, 3)), [3.0 * each for each in HUMAN]),
    ]
    return msgspec.structs.replace(board_of(HUMAN, *cells), orders=orders, elsewhere=list(elsewhere))


def document(found):
    return ReportDocument(
        title="run", kind="test", about="", version="0", blocks=order_blocks(found, choose(found))
    )


def sheet(**judges):
    return sheet_of(PEOPLE, **{"j@scale=0-100": WIDE, "j@scale=0-3": TURNED} | judges)


def test_means_conclusions_and_comparisons_stand_on_page_and_terminal(says):
    found = board(orders=order_systems(sheet(), resamples=200))
    says(render_markdown(document(found)))
    says("\n".join(map(str.rstrip, shown(document(found)).splitlines())))


def test_conclusions_say_who_comes_to_them():
    first, *_ = conclusions(order_systems(sheet_of(PEOPLE, wide=WIDE, flat=[[5, 5, 5]] * 10), resamples=200))
    # People tell a from c alone; `wide` tells all three pairs; `flat` none.
    assert (first.better, first.worse, first.people) == ("a", "b", False)
    found = {
        (one.better, one.worse): (one.people, one.shared, one.opposed, one.unsure)
        for one in conclusions(
            order_systems(sheet_of(PEOPLE, wide=WIDE, flat=[[5, 5, 5]] * 10), resamples=200)
        )
    }
    assert found["a", "c"] == (True, ["wide"], [], ["flat"])
    assert found["a", "b"] == (False, ["wide"], [], ["flat"])


def test_what_is_left_out_is_told(says):
    lacking = [[None, 60, 20], *WIDE[1:]]
    few = [[None, 1, 1]] * 9 + WIDE[9:]
    found = board(orders=order_systems(sheet(lacking=lacking, few=few), resamples=200))
    says(render_markdown(document(found)))


def test_pairs_that_nobody_tells_apart_are_named(says):
    flat = [[1, 1, 0] for _ in range(10)]
    found = board(orders=order_systems(sheet_of(flat, j=flat), resamples=200))
    says(render_markdown(document(found)))


def test_two_systems_have_no_tau(says):
    found = board(orders=order_systems(sheet_of([[1, 0]] * 10, j=[[0, 1]] * 10), resamples=200))
    text = render_markdown(document(found))
    assert "tau" not in text
    says(text)


def test_another_use_case_stands_below(says):
    here, there = sheet(), sheet_of(PEOPLE, prefix="r", **{"j@scale=0-100": TURNED})
    own = board(orders=order_systems(here, resamples=200))
    beside = orders_elsewhere("other-judges", (here, there), compare_boards(own, own), resamples=200)
    text = render_markdown(document(msgspec.structs.replace(own, elsewhere=[beside])))
    says(text[text.index("#### ") :])
    alone = orders_elsewhere("saf", (here, sheet_of([[1]] * 5, j=[[1]] * 5)), resamples=200)
    says(render_markdown(document(board(orders=None, elsewhere=[alone]))))


def test_nothing_is_said_of_one_system():
    assert order_blocks(board(orders=None), None) == []
