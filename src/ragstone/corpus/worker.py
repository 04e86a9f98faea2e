"""A process that reads files for another one: requests on standard input, replies on standard output."""

import math
import os
import pickle
import signal
import sys
from typing import IO

from ragstone.corpus.file import File, Skipped
from ragstone.corpus.options import PASSAGE, IngestOptions, Limits, too_many
from ragstone.corpus.reading import read_file
from ragstone.errors import MissingExtra
from ragstone.records import Document

READY = b"ready"
_LENGTH_BYTES = 8


def main() -> None:
    """Answer requests until there are no more: a file, options, limits -> what it gives, or MissingExtra."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the replies
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one ends this one
    send(replies, READY)
    while True:
        try:
            file, options, limits = pickle.loads(receive(sys.stdin.buffer))  # noqa: S301 - from the process that started this
        except EOFError:
            return
        _restrain(limits)
        send(replies, pickle.dumps(_read(file, options, limits.passages), protocol=5))


def _read(file: File, options: IngestOptions, most: int | None) -> list[Document | Skipped] | MissingExtra:
    """Return what a file gives, unless that is so much that it would hold up who asked."""
    try:
        given = read_file(file, options)
    except MissingExtra as mistake:
        return mistake
    n_passages = sum(math.ceil(len(one.text) / PASSAGE) for one in given if isinstance(one, Document))
    if most is not None and n_passages > most:
        return [Skipped(str(file.path), too_many(n_passages, most))]
    return given


def _restrain(limits: Limits) -> None:
    """Let the next file take so much: beyond its time this process is killed, beyond its memory is none."""
    try:
        import resource
    except ImportError:  # Windows: the process that started this looks at the clock
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu_s = math.ceil(used.ru_utime + used.ru_stime) + limits.cpu_s
    wanted = ((resource.RLIMIT_CPU, cpu_s), (resource.RLIMIT_DATA, limits.n_bytes), (resource.RLIMIT_CORE, 0))
    for kind, most in wanted:
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def send(pipe: IO[bytes], message: bytes) -> None:
    """Write a message. Raises BrokenPipeError where nobody reads any more."""
    pipe.write(len(message).to_bytes(_LENGTH_BYTES, "big"))
    pipe.write(message)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes:
    """Return the next message. Raises EOFError where there is none or only a part of one."""
    length = pipe.read(_LENGTH_BYTES)
    message = pipe.read(int.from_bytes(length, "big"))
    if len(length) < _LENGTH_BYTES or len(message) < int.from_bytes(length, "big"):
        raise EOFError
    return message
