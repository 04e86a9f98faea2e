"""Logs of Inspect as it writes them by default (`.eval`, 0.3.285) -> samples, one after the other.

Such a log is a ZIP file with a member of JSON for each sample, which nothing here unpacks to a disk. Its
members are packed with Zstandard, which Python itself unpacks from 3.14 on; before, pyarrow does.
"""

import json
import logging
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.kernel.errors import DataError, optional_package
from ragstone.kernel.files.file import File, Unreadable
from ragstone.kernel.tables.storage import open_bytes, url_of

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

LOG = logging.getLogger(__name__)

MOST_OF_A_SAMPLE = 256 << 20
"""Bytes of a sample, unpacked: a larger one would fill memory. Inspect keeps all that an agent did in it."""

_ZSTANDARD = 93  # the number of that method in ZIP files
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_READ = frozenset(
    ("id", "epoch", "input", "target", "output", "scores", "metadata", "total_time", "error", "messages")
)


def read_archive(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield (number, sample), each with the `eval` of the log's header.

    Events and stores are left out. Raises DataError for what is no such log, is damaged or was cut off, for a
    zip bomb or a sample that is too large, and for a log without samples; MissingExtra without what unpacks
    it.
    """
    from ragstone.kernel.files.zips import opened  # it brings zipfile, which few commands need

    where = str(url_of(path) or path)
    source = File(path, path.name) if url_of(path) is None else None
    if source is None:
        with open_bytes(path) as file:
            source = File(path, path.name, content=file.read())
    try:
        with opened(source) as archive:
            yield from _samples(archive, where)
    except Unreadable as mistake:
        hint = (
            "Write it as JSON: `inspect log convert --to json`."
            if " MB" in str(mistake)
            else "Copy it again. For an evaluation that crashed, `inspect log recover` writes one."
        )
        raise DataError(f"{where}: cannot be read as a log of Inspect: {mistake}. {hint}") from None


def _samples(archive: "ZipFile", where: str) -> Iterator[tuple[int, Any]]:
    members = {member.filename: member for member in archive.infolist()}  # of one name the last counts
    header = _header(archive, members, where)
    names = [name for name in members if name.startswith("samples/") and name.endswith(".json")]
    if not names:
        raise DataError(f"{where}: the log holds no samples. Write it again without --no-log-samples.")
    for number, name in enumerate(names, 1):
        sample = _decoded(archive, members[name], where)
        if isinstance(sample, dict):
            sample = {name: value for name, value in sample.items() if name in _READ} | header
        yield number, sample


def _header(archive: "ZipFile", members: "dict[str, ZipInfo]", where: str) -> dict[str, Any]:
    """Return the `eval` of a log; one that did not finish has it in its journal alone."""
    name = next((name for name in ("header.json", "_journal/start.json") if name in members), None)
    if name is None:
        raise DataError(f"{where}: it is a ZIP file but not a log of Inspect: header.json is not in it.")
    header = _decoded(archive, members[name], where)
    known = header if isinstance(header, dict) else {}
    status = known.get("status", "started")
    if status != "success":
        LOG.warning("%s: its evaluation did not finish (%s): samples may be missing.", where, status)
    return {"eval": known["eval"]} if isinstance(known.get("eval"), dict) else {}


def _decoded(archive: "ZipFile", member: "ZipInfo", where: str) -> object:
    """Return what a member holds. json, for unscored values are NaN in these logs."""
    from ragstone.kernel.files.zips import DAMAGED, check_entry

    if member.file_size > MOST_OF_A_SAMPLE:
        raise Unreadable(
            f"{member.filename} has {member.file_size >> 20:,} MB, and a sample may have "
            f"{MOST_OF_A_SAMPLE >> 20}"
        )
    try:
        if member.compress_type == _ZSTANDARD:
            return json.loads(_unzstandard(archive, member, where))
        check_entry(member)
        return json.loads(archive.read(member))
    except (*DAMAGED, struct.error, RuntimeError, RecursionError) as mistake:
        raise Unreadable(f"{member.filename} is damaged ({mistake})") from None


def _unzstandard(archive: "ZipFile", member: "ZipInfo", where: str) -> bytes:
    """Return the content of a member that is packed with Zstandard, at most as much as is announced."""
    if sys.version_info >= (3, 14):
        return archive.read(member)
    with optional_package(f"reading {where}", "parquet"):
        import pyarrow as pa
    file = archive.fp
    if file is None or member.flag_bits & 1:
        raise Unreadable(f"{member.filename} is encrypted")
    file.seek(member.header_offset)
    mark, n_name, n_extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    if mark != b"PK\x03\x04":
        raise Unreadable(f"{member.filename} is not where the directory says")
    file.seek(n_name + n_extra, 1)
    packed = pa.BufferReader(file.read(member.compress_size))
    content = bytes(pa.CompressedInputStream(packed, "zstd").read(member.file_size + 1))
    if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
        raise Unreadable(f"{member.filename} does not match its checksum")
    return content
