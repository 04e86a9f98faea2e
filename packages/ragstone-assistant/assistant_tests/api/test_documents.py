"""Documents over HTTP: uploads and what is wrong with them, jobs, who may."""

import asyncio
import os
import tempfile
import time as clock

import pytest
from tests.support.served_assistant import KEYS, key

from ragstone.kernel.errors import DataError
from ragstone.kernel.serve.requests import RefusedRequest
from ragstone_assistant.api import _jobs as jobs
from ragstone_assistant.api._jobs import DocumentJobs


def upload(client, name="rice.txt", content=b"Rice needs water.", headers=None):
    return client.post("/v1/documents", files={"file": (name, content)}, headers=headers)


def finished(client, response, headers=None):
    """Return the job that a response told, when it is over."""
    assert response.status_code == 202, response.text
    for n in range(80):  # ever less often, for 120 requests a minute are allowed
        reply = client.get(f"/v1/jobs/{response.json()['id']}", headers=headers)
        assert reply.status_code == 200, reply.text
        job = reply.json()
        if job["state"] in ("done", "failed", "stopped"):
            return job
        clock.sleep(0.005 * 1.1**n)
    raise AssertionError(job)


def ids(client):
    return [one["id"] for one in client.get("/v1/documents").json()["documents"]]


def test_a_document_is_added_in_a_job_and_listed(client, scripted):
    job = finished(client, upload(client))
    assert (job["state"], job["done"], job["total"], job["errors"]) == ("done", 2, 2, [])
    assert ids(client) == ["guides/maïs.pdf", "rice.txt"]
    assert scripted.knowledge.files["rice.txt"] == b"Rice needs water."
    assert client.get("/v1/documents").json()["version"] == "1"


def test_what_was_uploaded_leaves_no_file_behind(client, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    finished(client, upload(client))
    assert upload(client, "empty.txt", b" ").status_code == 422
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_an_upload_that_waits_has_no_file_that_a_kill_could_leave(client, scripted, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scripted.knowledge.gate = asyncio.Event()
    jobs = [upload(client).json()["id"] for _ in range(2)]
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    assert [client.post(f"/v1/jobs/{one}/stop").json()["state"] for one in jobs] == ["stopped"] * 2


def test_a_document_is_removed_in_a_job_whatever_its_name(client):
    job = finished(client, client.delete("/v1/documents/guides/ma%C3%AFs.pdf"))
    assert job["state"] == "done"
    assert ids(client) == []
    assert client.delete("/v1/documents/guides/ma%C3%AFs.pdf").status_code == 404


def test_all_is_built_anew_in_a_job(client):
    job = finished(client, client.post("/v1/documents/rebuild"))
    assert (job["state"], job["stage"], job["done"], job["total"]) == ("done", "files", 1, 1)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("rice.pdf", b"Rice needs water.", "rice.pdf"),
        ("rice.txt", b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG"),
        ("rice.exe", b"MZ\x90" + bytes(100), "rice.exe"),
        ("rice.png", b"\x89PNG\r\n\x1a\n" + bytes(100), "cannot be added"),
        ("empty.txt", b"", "empty"),
        ("...", b"Rice", "cannot be called"),
        (".bashrc", b"Rice", "cannot be called"),
        ("x" * 300 + ".txt", b"Rice", "too long"),
    ],
)
def test_what_is_not_what_it_says_is_refused_with_the_reason(client, name, content, words):
    response = upload(client, name, content)
    assert response.status_code == 422, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert words in response.json()["detail"]
    assert ids(client) == ["guides/maïs.pdf"]


@pytest.mark.parametrize("name", ["../../rice.txt", "/etc/rice.txt", "..\\..\\rice.txt", "C:\\rice.txt"])
def test_a_path_is_no_name(client, name):
    finished(client, upload(client, name))
    assert ids(client) == ["guides/maïs.pdf", "rice.txt"]


def test_a_form_without_a_file_is_refused(client):
    assert client.post("/v1/documents", data={"file": "text"}).status_code == 400
    assert client.post("/v1/documents", files={"other": ("a.txt", b"x")}).status_code == 400
    assert client.post("/v1/documents", json={}).status_code in (400, 415)


def test_a_file_that_is_too_large_is_refused_by_its_announced_length(open_client):
    client = open_client(max_upload_mb=1)
    response = upload(client, content=b"x" * 1_100_000)
    assert response.status_code == 413
    assert "1,065,536" in response.json()["detail"]  # 1 MB and 64 KB for the form


def test_a_file_may_be_larger_than_a_question(open_client, scripted):
    client = open_client(max_upload_mb=2)
    content = b"Rice stands in water. " * 80_000  # 1.76 MB; other requests may have 512 KB
    assert finished(client, upload(client, content=content))["state"] == "done"


def test_a_file_of_unknown_length_is_refused_when_it_has_grown_too_large(open_client):
    client = open_client(max_upload_mb=1)
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'

    def parts():
        yield head
        for _ in range(20):
            yield os.urandom(100_000)
        yield b"\r\n--x--\r\n"

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    response = client.post("/v1/documents", content=parts(), headers=headers)
    assert response.status_code == 413
    assert response.headers["content-type"] == "application/problem+json"


def test_a_job_that_fails_says_why_and_tells_nothing_of_the_inside(client):
    job = finished(client, upload(client, content=b"explode"))
    assert job["state"] == "failed"
    assert job["errors"] == ["the server's own log says why"]
    job = finished(client, upload(client, content=b"down"))
    assert job["errors"] == ["the documents cannot be changed at this moment"]


def test_only_administrators_see_and_change_documents(open_client):
    client = open_client(keys=KEYS, admin_keys=["anna"])
    for method, path in (
        ("GET", "/v1/documents"),
        ("DELETE", "/v1/documents/x"),
        ("POST", "/v1/documents/rebuild"),
        ("GET", "/v1/jobs/x"),
        ("POST", "/v1/jobs/x/stop"),
    ):
        assert client.request(method, path, headers=key("ben")).status_code == 403
    assert upload(client, headers=key("ben")).status_code == 403
    assert finished(client, upload(client, headers=key("anna")), key("anna"))["state"] == "done"


def test_without_admin_keys_every_key_may(open_client):
    client = open_client(keys=KEYS)
    assert client.get("/v1/documents", headers=key("ben")).status_code == 200


def test_an_unknown_job_is_not_there(client):
    assert client.get("/v1/jobs/job-0").status_code == client.post("/v1/jobs/job-0/stop").status_code == 404


def test_a_job_is_stopped_whether_it_runs_or_waits(client, scripted):
    gate = scripted.knowledge.gate = asyncio.Event()
    first, second, third = (upload(client, f"{n}.txt").json()["id"] for n in range(3))
    stopped = [client.post(f"/v1/jobs/{one}/stop") for one in (second, first)]
    assert [(one.status_code, one.json()["state"]) for one in stopped] == [(200, "stopped")] * 2
    scripted.knowledge.gate = None
    gate.set()  # for the third, if it waits there already
    assert finished(client, client.post("/v1/documents/rebuild"))["state"] == "done"
    assert client.get(f"/v1/jobs/{third}").json()["state"] == "done"
    assert ids(client) == ["guides/maïs.pdf", "2.txt"]
    assert client.post(f"/v1/jobs/{third}/stop").json()["state"] == "done"


async def test_a_job_that_is_stopped_lets_go_before_the_next_one_begins():
    ended = asyncio.Event()

    async def slow(_advance):
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            ended.set()

    async def after(_advance):
        return [] if ended.is_set() else ["too early"]

    queue = DocumentJobs()
    first, second = queue.start("slow", slow), queue.start("after", after)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert first.state == "running"
    assert [(await queue.stop(first.id)).state, ended.is_set()] == ["stopped", True]
    await asyncio.gather(*queue._tasks.values())
    assert (second.state, second.errors) == ("done", [])


async def test_one_job_runs_at_a_time_in_the_order_in_which_they_came():
    running, order, most = 0, [], 0

    def work(n):
        async def done(advance):
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.001)
            order.append(n)
            running -= 1
            if n == 1:
                raise DataError("the second is broken")
            return [f"{n} has no text"]

        return done

    queue = DocumentJobs()
    started = [queue.start(f"{n}", work(n)) for n in range(4)]
    assert [job.state for job in started] == ["waiting"] * 4
    await asyncio.gather(*queue._tasks.values())
    assert (most, order) == (1, [0, 1, 2, 3])
    assert [job.state for job in started] == ["done", "failed", "done", "done"]
    assert started[0].errors == ["0 has no text"]
    assert started[1].errors == ["the second is broken"]


async def test_too_many_jobs_do_not_pile_up_and_what_waits_ends_with_the_server(monkeypatch):
    monkeypatch.setattr(jobs, "MOST_WAITING", 2)
    forever = asyncio.Event()

    async def work(advance):
        await forever.wait()

    queue = DocumentJobs()
    queue.start("a", work)
    queue.start("b", work)
    with pytest.raises(RefusedRequest, match="jobs are waiting already") as refused:
        queue.start("c", work)
    assert refused.value.status_code == 429
    await queue.close()


async def test_old_jobs_are_forgotten(monkeypatch):
    monkeypatch.setattr(jobs, "MOST_KEPT", 2)

    async def work(advance):
        return []

    queue = DocumentJobs()
    started = [queue.start(str(n), work) for n in range(3)]
    assert [queue.get(job.id) for job in started] == [None, started[1], started[2]]
    await queue.close()


def test_an_upload_that_never_gets_its_turn_leaves_no_file_behind(
    open_client, scripted, monkeypatch, tmp_path
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(jobs, "MOST_WAITING", 2)
    client = open_client()

    async def slow(*_):
        await asyncio.sleep(60)

    monkeypatch.setattr(scripted.knowledge, "add", slow)
    assert [upload(client).status_code for _ in range(3)] == [202, 202, 429]
    client.__exit__(None, None, None)
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
