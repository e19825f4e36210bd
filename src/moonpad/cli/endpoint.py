"""Which endpoint a verb means: a URL that the user names, or the run of a spec."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from cyclopts import Parameter

from moonpad.spec.safe_text import shorten
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import UsageError
from moonpad.values.secret import Secret


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions:
    """The options by which every verb that asks an endpoint takes one. Their texts are what --help shows."""

    url: str | None = None
    """An endpoint by its address: http://HOST:PORT/v1."""
    model: str | None = None
    """The model's served name; without it, the spec's, or the only one that the endpoint lists."""
    key_env: str | None = None
    """The environment variable that holds the key."""

    def words(self, spec: Path | None) -> str:
        """What names the same endpoint again, for the next command."""
        options = (("--url", self.url), ("--model", self.model), ("--key-env", self.key_env))
        words = [str(spec)] if spec else []
        words += [word for flag, value in options if value for word in (flag, value)]
        return "".join(f" {shlex.quote(word)}" for word in words)


def resolve_endpoint(spec: Path | None, options: EndpointOptions) -> Endpoint:
    """The endpoint of `--url`, else the one that `moonpad up` keeps for the spec, else the only one that is up.

    Raises:
        UsageError: none, or more than one, could be meant.
    """
    key = os.environ.get(options.key_env, "") if options.key_env else ""
    if options.key_env and not key:
        name = shorten(options.key_env)
        raise UsageError(f"the environment variable {name} is not set", remedy=f"export {name}=…")
    if not key.isprintable():
        raise UsageError(
            f"the key in {options.key_env} holds a line break or a control character", remedy="set it again"
        )
    secret = Secret(key) if key else None
    if options.url is None:
        from moonpad.run.endpoints import endpoint_of_run

        endpoint = endpoint_of_run(spec, secret)
        return replace(endpoint, model=options.model) if options.model else endpoint
    if spec:
        raise UsageError("both a spec and --url were given", remedy="leave one of them out")
    if not options.url.startswith(("http://", "https://")) or not _has_host(options.url):
        raise UsageError(f"{shorten(options.url)!r} is not a URL", remedy="write http://HOST:PORT/v1")
    base_url = options.url.rstrip("/")
    return Endpoint(base_url if base_url.endswith("/v1") else f"{base_url}/v1", options.model or "", secret)


def _has_host(url: str) -> bool:
    """Whether its host is a name or an address, and its port a number."""
    try:
        parts = urlsplit(url)
        name = (parts.hostname or "").rstrip(".")
        return 0 < len(name) <= 253 and bool(name.encode("idna")) and parts.port != 0
    except ValueError:  # of the port, the brackets, or a name that no host can have
        return False
