"""The page: strict headers, nothing for other hosts' names, history and looks by server-sent events."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from moonpad.values.redaction import forget_all
from moonpad.values.secret import Secret
from moonpad.watch.view import make_view
from moonpad.watch.web import CLIENTS, FILES, Looks, showing
from tests.unit.watch.looks import looks


def document(at: str) -> dict[str, Any]:
    return {"at": at, "endpoints": [make_view(looks(3)).as_json()]}


@pytest.fixture
def page() -> Iterator[tuple[Looks, str]]:
    shown = Looks()
    with showing(shown) as url:
        yield shown, url


def asked(url: str, path: str, host: str | None = None) -> http.client.HTTPResponse:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    connection.request("GET", path, headers={"Host": host} if host else {})
    return connection.getresponse()


def event(answer: http.client.HTTPResponse) -> tuple[str, Any]:
    name = answer.readline().decode().removeprefix("event: ").strip()
    data = answer.readline().decode().removeprefix("data: ")
    assert answer.readline() == b"\n"
    return name, json.loads(data)


def test_files_with_strict_headers(page: tuple[Looks, str]) -> None:
    _, url = page
    for path in FILES:
        answer = asked(url, path)
        text = answer.read().decode()
        assert answer.status == 200
        assert "default-src 'none'" in (answer.getheader("Content-Security-Policy") or "")
        assert "unsafe" not in (answer.getheader("Content-Security-Policy") or "")
        assert "innerHTML" not in text
        assert "style=" not in text
        assert "https://" not in text, "nothing from elsewhere"


def test_a_name_of_somebody_elses_is_refused(page: tuple[Looks, str]) -> None:
    port = urlsplit(page[1]).port
    assert asked(page[1], "/", f"evil.example:{port}").status == 403
    assert asked(page[1], "/events", f"evil.example:{port}").status == 403
    assert asked(page[1], "/", f"localhost:{port}").status == 200
    assert asked(page[1], "/../../etc/passwd").status == 404


def test_history_and_then_each_look(page: tuple[Looks, str]) -> None:
    shown, url = page
    secret = Secret("sk-a-very-long-key-of-a-user")
    for at in ("1", "2", secret.reveal()):
        shown.add(document(at))
    answer = asked(url, "/events")
    name, past = event(answer)
    assert (name, len(past)) == ("history", 2)
    assert "log" not in past[0]["endpoints"][0]
    name, look = event(answer)
    assert (name, look["endpoints"][0]["running"]) == ("look", 4.0)
    assert secret.reveal() not in json.dumps(look)
    shown.add(document("4"))
    assert event(answer)[1]["at"] == "4"
    answer.close()
    forget_all()


def test_so_many_pages_and_no_more(page: tuple[Looks, str]) -> None:
    page[0].add(document("1"))
    open_ones = [asked(page[1], "/events") for _ in range(CLIENTS)]
    for answer in open_ones:
        event(answer)
    assert asked(page[1], "/events").status == 503
    assert asked(page[1], "/").status == 200
    for answer in open_ones:
        answer.close()
