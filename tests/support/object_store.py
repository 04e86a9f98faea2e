"""A local S3 for tests: moto's server, one for the whole session, and a bucket of its own for each test."""

import functools
import http.server
import itertools
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_NUMBERS = itertools.count(1)


@functools.cache
def address() -> str:
    """Return where the server answers; it is a daemon's thread and ends with the tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import ThreadedMotoServer
    import logging

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    return f"http://{host}:{port}"


def use(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    """Make an endpoint the S3 of this process, with a key."""
    import s3fs

    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "a-key",
        "AWS_SECRET_ACCESS_KEY": "a-secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()


@contextmanager
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give the URL of an empty bucket."""
    import s3fs

    use(monkeypatch, address())
    name = f"bucket-{next(_NUMBERS)}"
    s3fs.S3FileSystem().mkdir(name)
    yield f"s3://{name}"
    s3fs.S3FileSystem.clear_instance_cache()


@contextmanager
def refusing(status: int, code: str) -> Iterator[str]:
    """Give the address of an S3 that answers every request with an error, e.g. 403 AccessDenied."""
    words = f"<Error><Code>{code}</Code><Message>Access Denied</Message></Error>".encode()

    class Refuse(http.server.BaseHTTPRequestHandler):
        def refuse(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(status)
            self.send_header("content-type", "application/xml")
            self.send_header("content-length", str(len(words)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(words)

        do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = refuse  # noqa: N815 - names of http.server

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuse)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()
