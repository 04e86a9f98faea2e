"""The sizes that STYLE.md sets: a module, a function, its parameters."""

import ast
from pathlib import Path
from statistics import median

PACKAGE = Path(__file__).parent.parent / "src" / "ragstone"
MODULES = sorted(PACKAGE.rglob("*.py"))
MODULE_LINES = 600  # a class that is cut in two to obey a number is worse than a long file
MEDIAN_LINES = 250
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


def test_modules_and_their_functions_are_not_too_long():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {path: n for path, n in lengths.items() if n > MODULE_LINES} == {}
    functions = [(path, one) for path in MODULES for one in functions_of(path)]
    assert {(path, one.name) for path, one in functions if n_lines(one) > FUNCTION_LINES} == set()
    crowded = [one for one in functions if len(one[1].args.posonlyargs + one[1].args.args) > PARAMETERS]
    assert {(path, one.name) for path, one in crowded} == set()


def test_half_of_the_modules_are_short():
    assert median(len(module.read_text(encoding="utf-8").splitlines()) for module in MODULES) <= MEDIAN_LINES


def test_an_init_file_holds_no_logic():
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr)
    for module in (path for path in MODULES if path.name == "__init__.py"):
        body = ast.parse(module.read_text(encoding="utf-8")).body
        assert all(isinstance(node, allowed) for node in body), module
