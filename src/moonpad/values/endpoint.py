"""Something that speaks the OpenAI API, no matter who started it."""

from __future__ import annotations

from msgspec import Struct

from moonpad.values.estimate import Planned
from moonpad.values.secret import Secret


class Endpoint(Struct, frozen=True):
    """`base_url` ends in `/v1`. `engine` is "" where it is unknown. `planned`: figures of our own deployment.
    `timeout_s`: the longest that the user gives one answer; None leaves it to the verb.

    `health_path`: what answers 200 while it can serve. `replica_urls`: behind a router, the roots of the copies, whose
    metrics together are those of the endpoint.
    """

    base_url: str
    model: str
    key: Secret | None = None
    engine: str = ""
    planned: tuple[Planned, ...] = ()
    timeout_s: float | None = None
    health_path: str = "/health"
    replica_urls: tuple[str, ...] = ()

    @property
    def root_url(self) -> str:
        """Where `/health` and `/metrics` live."""
        return self.base_url.removesuffix("/v1").rstrip("/")

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key.reveal()}"} if self.key else {}
