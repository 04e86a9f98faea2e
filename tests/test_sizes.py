"""The sizes that STYLE.md sets: a module, a function, its parameters."""

import ast
from pathlib import Path
from statistics import median

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "ragstone"
MODULES = sorted(PACKAGE.rglob("*.py"))
MODULE_LINES = 400
MEDIAN_LINES = 120
FUNCTION_LINES = 50  # without its docstring
PARAMETERS = 6  # those after `*` are named where they are used, and do not count

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions_of(module: Path) -> list[Function]:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def n_lines(function: Function) -> int:
    docstring = function.body[0] if ast.get_docstring(function, clean=False) is not None else None
    described = docstring.end_lineno - docstring.lineno + 1 if docstring and docstring.end_lineno else 0
    return (function.end_lineno or function.lineno) - function.lineno + 1 - described


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_and_its_functions_are_not_too_long(module):
    assert len(module.read_text(encoding="utf-8").splitlines()) <= MODULE_LINES
    functions = functions_of(module)
    assert {one.name: n_lines(one) for one in functions if n_lines(one) > FUNCTION_LINES} == {}
    crowded = {one.name for one in functions if len(one.args.posonlyargs) + len(one.args.args) > PARAMETERS}
    assert crowded == set()


def test_half_of_the_modules_are_short():
    assert median(len(module.read_text(encoding="utf-8").splitlines()) for module in MODULES) <= MEDIAN_LINES


@pytest.mark.parametrize("module", [path for path in MODULES if path.name == "__init__.py"], ids=str)
def test_an_init_file_holds_no_logic(module):
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr)
    assert all(isinstance(node, allowed) for node in ast.parse(module.read_text(encoding="utf-8")).body)
