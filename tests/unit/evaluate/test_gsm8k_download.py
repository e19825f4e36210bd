"""GSM8K's download from a server here: the right files, and all that may come instead."""

from __future__ import annotations

import hashlib
import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moonpad.cli import eval_task
from moonpad.evaluate import gsm8k
from moonpad.values.errors import PreflightRefused

ROWS = "".join(json.dumps({"question": f"{n} and 1?", "answer": f"é #### {n + 1}"}) + "\n" for n in range(300))
DATA = {"train.jsonl": ROWS.encode(), "test.jsonl": ROWS[:4000].rpartition("\n")[0].encode() + b"\n"}
Handler = http.server.BaseHTTPRequestHandler
Behaviour = Callable[[Handler, bytes], None]


@pytest.fixture(autouse=True)
def _published(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files here count as the published ones."""
    splits = {"train": "train.jsonl", "test": "test.jsonl"}
    rows = {split: (name, hashlib.sha256(DATA[name]).hexdigest(), len(DATA[name])) for split, name in splits.items()}
    monkeypatch.setattr(gsm8k, "FILES", rows)
    monkeypatch.setattr(gsm8k, "STALL_S", 0.5)
    monkeypatch.setattr(gsm8k, "DOWNLOAD_S", 1.0)


@contextmanager
def serving(behave: Behaviour) -> Iterator[str]:
    class Here(Handler):
        def do_GET(self) -> None:
            behave(self, DATA[self.path.rpartition("/")[2]])

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Here)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/data"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def whole(handler: Handler, data: bytes, length: int | None = None) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data) if length is None else length))
    handler.end_headers()
    handler.wfile.write(data)


def moved(handler: Handler, data: bytes) -> None:
    if handler.path.startswith("/new"):
        whole(handler, data)
        return
    handler.send_response(302)
    handler.send_header("Location", f"/new{handler.path}")
    handler.end_headers()


def round_and_round(handler: Handler, data: bytes) -> None:
    handler.send_response(302)
    handler.send_header("Location", handler.path)
    handler.end_headers()


def in_chunks(handler: Handler, data: bytes) -> None:
    handler.protocol_version = "HTTP/1.1"
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"1000\r\n" + data[:100])


def trickling(handler: Handler, data: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    for byte in data[:60]:
        try:
            handler.wfile.write(bytes([byte]))
        except OSError:
            return
        time.sleep(0.05)


def silent(handler: Handler, data: bytes) -> None:
    time.sleep(1.5)


def failing(handler: Handler, data: bytes) -> None:
    handler.send_error(503)


@pytest.mark.parametrize("behave", [whole, moved])
def test_the_right_files(behave: Behaviour) -> None:
    with serving(behave) as url:
        assert {name: text.encode() for name, text in gsm8k.download(url).items()} == DATA


@pytest.mark.parametrize(
    ("behave", "said"),
    [
        (lambda handler, data: whole(handler, data.replace(b"1", b"2", 1)), "its sha256 is"),
        (lambda handler, data: whole(handler, data[:-10]), "it ended after"),
        (lambda handler, data: whole(handler, data[:-10], len(data)), "it ended after"),
        (lambda handler, data: whole(handler, data + b"\n" * 999), "it has more than"),
        (lambda handler, data: whole(handler, b"<html>log in first</html>"), "it ended after 25 of"),
        (lambda handler, data: handler.wfile.write(b"nonsense\r\n\r\n"), "cannot be fetched"),
        (lambda handler, data: None, "cannot be fetched"),
        (in_chunks, "cannot be fetched|it ended after"),
        (round_and_round, "cannot be fetched: HTTP 302"),
        (failing, "cannot be fetched: HTTP 503"),
        (trickling, "bytes came in 1 s"),
        (silent, "cannot be fetched: timed out"),
    ],
)
def test_what_is_refused(behave: Behaviour, said: str) -> None:
    with serving(behave) as url, pytest.raises(PreflightRefused, match=said) as failure:
        gsm8k.download(url)
    assert "--data FOLDER" in failure.value.remedy


def test_no_such_host() -> None:
    with pytest.raises(PreflightRefused, match="cannot be fetched"):
        gsm8k.download("http://127.0.0.1:1/data")


def test_it_is_kept_and_a_damaged_copy_is_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eval_task, "cache_home", lambda: tmp_path)
    asked = []

    def counted(handler: Handler, data: bytes) -> None:
        asked.append(handler.path)
        whole(handler, data)

    with serving(counted) as url:
        monkeypatch.setattr(eval_task, "download", lambda: gsm8k.download(url))
        first = eval_task._downloaded()
        assert first.published
        assert first.count == DATA["test.jsonl"].count(b"\n")
        assert eval_task._downloaded() == first
        assert len(asked) == 2
        first.paths["test"].write_bytes(DATA["test.jsonl"][:-100])
        assert eval_task._downloaded() == first
        assert len(asked) == 4
    eval_task._downloaded()  # the server is gone, and is not needed
