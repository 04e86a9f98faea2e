"""A process that reads files for another one: requests on standard input, replies on standard output."""

import os
import pickle
import signal
import sys
from typing import IO

from ragstone.corpus.reading import read_file
from ragstone.errors import RagstoneError

READY = b"ready"
_LENGTH_BYTES = 8


def main() -> None:
    """Answer requests until there are no more: for a file and options, what it gives, None for an error."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the replies
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one ends this one
    send(replies, READY)
    while True:
        try:
            file, options = pickle.loads(receive(sys.stdin.buffer))  # noqa: S301 - from the process that started this
        except EOFError:
            return
        try:
            given = read_file(file, options)
        except RagstoneError:
            given = None
        send(replies, pickle.dumps(given, protocol=5))


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
