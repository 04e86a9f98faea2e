import os

from ragstone.kernel.serve.file_cache import FileCache
from ragstone.kernel.serve.rows.files import stats_of


def test_what_was_made_of_files_is_made_again_once_one_of_them_changes(tmp_path):
    file, cache, made = tmp_path / "a.json", FileCache(), []

    def make():
        made.append(file.read_text())
        return made[-1]

    file.write_text("1")
    assert [cache.made(tmp_path, stats_of(tmp_path), make) for _ in range(2)] == ["1", "1"]
    before = file.stat()
    (tmp_path / "b.json").write_text("2")
    os.utime(tmp_path / "b.json", ns=(before.st_atime_ns, before.st_mtime_ns))
    (tmp_path / "b.json").replace(file)  # of the same size and time of writing
    assert cache.made(tmp_path, stats_of(tmp_path), make) == "2"
    assert made == ["1", "2"]


def test_only_so_many_folders_are_kept(tmp_path):
    cache, made = FileCache(most=2), []
    folders = [tmp_path / name for name in "abc"]
    for folder in [*folders, *folders[1:], folders[0]]:
        cache.made(folder, [], lambda folder=folder: made.append(folder.name))
    assert made == ["a", "b", "c", "a"]
