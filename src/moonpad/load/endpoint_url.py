"""The address of an endpoint, and HTTP requests to it as bytes."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

import moonpad
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import UsageError


@dataclass(frozen=True, slots=True)
class Target:
    """A server and the path under which its OpenAI API lives (`/v1`)."""

    host: str
    port: int
    tls: bool
    api_path: str
    root_path: str
    head: str  # the header lines that every request carries; holds the key, so it is never shown

    def __repr__(self) -> str:
        return f"Target({'https' if self.tls else 'http'}://{self.host}:{self.port}{self.api_path})"

    def get(self, path: str) -> bytes:
        return f"GET {path} HTTP/1.1\r\n{self.head}\r\n".encode("latin-1")

    def post(self, path: str, body: bytes) -> bytes:
        """`body` is JSON."""
        entity = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return f"POST {path} HTTP/1.1\r\n{self.head}{entity}\r\n".encode("latin-1") + body


def target_of(endpoint: Endpoint) -> Target:
    """
    Raises:
        UsageError: the URL or the key cannot be sent.
    """
    try:
        url = urlsplit(endpoint.base_url)
        host, port = url.hostname, url.port
    except ValueError as error:
        raise UsageError(f"{endpoint.base_url!r} is not a URL: {error}", remedy="write http://HOST:PORT/v1") from error
    if url.scheme not in ("http", "https") or not host:
        raise UsageError(f"{endpoint.base_url!r} is not an http or https URL", remedy="write http://HOST:PORT/v1")
    tls = url.scheme == "https"
    root_path = urlsplit(endpoint.root_url).path
    lines = {
        "Host": url.netloc.rpartition("@")[2],
        "User-Agent": f"moonpad/{moonpad.__version__}",
        "Accept": "text/event-stream, application/json",
        "Connection": "keep-alive",
        **(endpoint.headers() or _basic(url)),
    }
    _check_printable("the URL", url.netloc + url.path)
    _check_printable("the key", "".join(endpoint.headers().values()).replace(" ", "", 1))
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return Target(host, port or (443 if tls else 80), tls, url.path, root_path, head)


def _basic(url: SplitResult) -> dict[str, str]:
    """The user and password of the URL, as the other verbs send them too."""
    if url.username is None:
        return {}
    text = f"{unquote(url.username)}:{unquote(url.password or '')}"
    return {"Authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


def _check_printable(what: str, text: str) -> None:
    """A line break in a URL or a key would inject a header."""
    if not all("!" <= char <= "~" for char in text):
        raise UsageError(
            f"{what} contains a space, a control character or a non-ASCII character", remedy="check it for a line break"
        )
