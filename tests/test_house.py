"""The house holds: no figure grows, arrows are those of the list, what is private to a folder stays there."""

import ast
import json

import pytest
from tests.support import house

pytestmark = pytest.mark.house

FUNCTION_LINES = 80  # without its docstring
PARAMETERS = 6  # those after `*` are named where they are used, and do not count
RECORDED: dict[str, int] = json.loads(house.RECORD.read_text(encoding="utf-8"))


def test_no_figure_grows_beyond_what_is_recorded():
    figures = house.figures()
    grown = {name: (RECORDED[name], figure) for name, figure in figures.items() if figure > RECORDED[name]}
    assert grown == {}, "python -m tests.support.house --list shows the places"


def test_the_arrows_between_features_are_those_of_the_list():
    assert house.arrows() == house.allowed_arrows()


def test_the_arrows_make_no_circle():
    left = house.allowed_arrows()
    while left:
        ends = {second for _, second in left} - {first for first, _ in left}
        assert ends, f"these features import each other in a circle: {sorted(left)}"
        left = {(first, second) for first, second in left if second not in ends}


def test_the_kernel_knows_no_feature():
    rooms = {
        (each.taker, each.giver) for each in house.imports() if house.room_of(each.taker).startswith("kernel")
    }
    assert [pair for pair in rooms if not house.room_of(pair[1]).startswith("kernel")] == []


def test_nobody_opens_a_private_module_of_another_folder():
    assert house.opened_from_outside() == []


def test_a_function_can_be_read_at_one_look():
    long = [
        (module, node.name) for module, node in house.functions() if house.body_lines(node) > FUNCTION_LINES
    ]
    crowded = [
        (module, node.name)
        for module, node in house.functions()
        if len(node.args.posonlyargs + node.args.args) > PARAMETERS
    ]
    assert (long, crowded) == ([], [])


def test_an_init_file_holds_no_logic():
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr)
    for path in house.modules().values():
        if path.name == "__init__.py":
            assert all(isinstance(node, allowed) for node in house.tree_of(path).body), path
