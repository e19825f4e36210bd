"""A hub on the loopback: the parts of the Hugging Face API that a download of a model uses, and its faults.

By the answers of huggingface.co: `/api/models/ID/revision/REV?blobs=true` describes the files;
`/ID/resolve/COMMIT/NAME` is the file itself, or for one in Git LFS a redirection to a content network, here the same
server by another name. And the same of ModelScope's, by its own program (modelscope 1.31):
`/api/v1/models/ID/repo/files` and `/models/ID/resolve/REVISION/NAME`.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PIECE_BYTES = 64 << 10


def git_blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0%b" % (len(data), data)).hexdigest()  # noqa: S324 - git's


@dataclass
class HubServer:
    """`files` of the one repository. The switches may be changed while it runs."""

    files: dict[str, bytes]
    id: str = "moonshotai/Kimi-K2-Tiny"
    token: str = ""
    """Where set, nobody else is told that the repository exists."""
    gated: bool = False
    cut_after: int = 0
    """Bytes after which a connection is cut, each time; 0: never."""
    statuses: list[int] = field(default_factory=list)
    """Answered one by one to requests of files, before anything is served."""
    rate: float = 0.0
    """Bytes a second of each connection; 0: as fast as it goes."""
    damaged: dict[str, int] = field(default_factory=dict)
    """How many times more a file comes with a wrong byte."""
    shorter: dict[str, int] = field(default_factory=dict)
    """How many bytes at a file's end are kept back, though its length is said to be without them."""
    longer: dict[str, int] = field(default_factory=dict)
    """Bytes that come after a file's end."""
    ignores_ranges: bool = False
    described: dict[str, Any] | None = None
    """Replaces the description of the repository."""
    sent: Counter[str] = field(default_factory=Counter)
    """Bytes of each file that were written to a connection."""
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    """(path, Range, Authorization) of each."""
    url: str = ""
    port: int = 0

    @property
    def size_bytes(self) -> int:
        return sum(map(len, self.files.values()))

    def digest(self, name: str) -> str:
        data = self.files[name]
        return hashlib.sha256(data).hexdigest() if name.endswith(".safetensors") else git_blob(data)

    def description(self) -> dict[str, Any]:
        siblings = []
        for name, data in self.files.items():
            row: dict[str, Any] = {"rfilename": name, "size": len(data), "blobId": git_blob(data)}
            if name.endswith(".safetensors"):
                row["lfs"] = {"sha256": self.digest(name), "size": len(data), "pointerSize": 134}
            siblings.append(row)
        return {"id": self.id, "modelId": self.id, "sha": COMMIT, "siblings": siblings, "tags": [], "downloads": 0}

    def listing(self) -> dict[str, Any]:
        """As ModelScope describes the repository: every file has a SHA-256, and folders are listed too."""
        rows: list[dict[str, Any]] = [{"Path": "figures", "Name": "figures", "Type": "tree", "Size": 0, "Sha256": ""}]
        for name, data in self.files.items():
            sha256 = hashlib.sha256(data).hexdigest()
            rows.append({"Path": name, "Name": name, "Type": "blob", "Size": len(data), "Sha256": sha256})
        latest = {"Id": COMMIT, "ShortId": COMMIT[:8]}
        return {"Code": 200, "Success": True, "Data": {"Files": rows, "IsVisual": 0, "LatestCommitter": latest}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: HubServer

    def setup(self) -> None:
        # So that what the client has not taken was not sent either, but for a little.
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIECE_BYTES)
        super().setup()

    def log_message(self, *words: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        with suppress(ConnectionError):
            self._get()

    def _get(self) -> None:
        hub, path = self.hub, urlsplit(self.path).path
        authorization = self.headers.get("Authorization", "")
        hub.requests.append((path, self.headers.get("Range", ""), authorization))
        if path.startswith("/cdn/"):
            name = path.removeprefix("/cdn/")
            return self._file(name) if name in hub.files else self._fail(404, "EntryNotFound")
        if path.startswith(("/api/v1/models/", "/models/")):
            return self._modelscope(path, authorization)
        if not path.startswith((f"/api/models/{hub.id}", f"/{hub.id}/")):
            return self._fail(404, "RepoNotFound")
        if hub.token and authorization != f"Bearer {hub.token}":
            return self._fail(401, "RepoNotFound")
        if hub.gated:
            return self._fail(403, "GatedRepo")
        if path.startswith("/api/"):
            revision = path.rpartition("/revision/")[2]
            if revision not in ("main", COMMIT):
                return self._fail(404, "RevisionNotFound")
            return self._document(hub.described or hub.description())
        name = path.removeprefix(f"/{hub.id}/resolve/{COMMIT}/")
        if name not in hub.files:
            return self._fail(404, "EntryNotFound")
        if hub.statuses:
            return self._fail(hub.statuses.pop(0), "")
        if name.endswith(".safetensors"):
            return self._redirect(name)
        return self._file(name)

    def _modelscope(self, path: str, authorization: str) -> None:
        hub = self.hub
        if hub.id not in path or (hub.token and authorization != f"Bearer {hub.token}"):
            return self._fail(404, "")
        if path == f"/api/v1/models/{hub.id}/repo/files":
            if "Revision=master&" not in self.path and f"Revision={COMMIT}&" not in self.path:
                return self._document({"Code": 10010205001, "Success": False, "Message": "get repo files error"})
            return self._document(hub.described or hub.listing())
        name = path.removeprefix(f"/models/{hub.id}/resolve/{COMMIT}/")
        if name not in hub.files:
            return self._fail(404, "")
        if hub.statuses:
            return self._fail(hub.statuses.pop(0), "")
        return self._file(name)

    def _document(self, document: object) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _fail(self, status: int, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _redirect(self, name: str) -> None:
        self.send_response(302)
        self.send_header("Location", f"http://localhost:{self.hub.port}/cdn/{name}")
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("X-Linked-Etag", f'"{self.hub.digest(name)}"')
        self.send_header("X-Linked-Size", str(len(self.hub.files[name])))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _file(self, name: str) -> None:
        hub, data = self.hub, self.hub.files[name]
        if hub.damaged.get(name, 0):
            hub.damaged[name] -= 1
            data = data[:-1] + bytes([data[-1] ^ 1])
        data = data[: len(data) - hub.shorter.get(name, 0)] + b"\0" * hub.longer.get(name, 0)
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        begin = int(wanted[1]) if wanted and not hub.ignores_ranges else 0
        if begin and begin >= len(data):
            return self._fail(416, "")
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        self.send_header("ETag", f'"{hub.digest(name)}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        if self.command == "GET":
            self._send(name, memoryview(data)[begin:])

    def _send(self, name: str, data: memoryview) -> None:
        hub = self.hub
        if hub.cut_after:
            data = data[: hub.cut_after]
        for at in range(0, len(data), PIECE_BYTES):
            piece = data[at : at + PIECE_BYTES]
            self.wfile.write(piece)
            hub.sent[name] += len(piece)
            if hub.rate:
                time.sleep(len(piece) / hub.rate)
        if hub.cut_after:
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *words: object) -> None:
        """A client that was killed is no error."""


@contextmanager
def hub_server(files: dict[str, bytes], **switches: Any) -> Iterator[HubServer]:
    hub = HubServer(dict(files), **switches)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.port = server.server_address[1]
    hub.url = f"http://127.0.0.1:{hub.port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
