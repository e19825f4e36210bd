"""Which endpoint a verb means: a URL that the user names, or the run of a spec."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from cyclopts import Parameter

from moonpad.spec.safe_text import parse_duration, shorten
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import UsageError
from moonpad.values.records import replace
from moonpad.values.secret import Secret
from moonpad.values.visible_text import shell_word


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
    timeout: str | None = None
    """The longest that one answer may take, like 30s or 10m. Without it: bench 6h, chat 1h, eval 10m, verify 2m or, for
    a stream, 10m."""

    @property
    def timeout_s(self) -> float | None:
        """
        Raises:
            UsageError: the text is not a duration, or is none.
        """
        try:
            seconds = None if self.timeout is None else parse_duration(self.timeout)
        except ValueError as error:
            raise UsageError(f"--timeout: {error}", remedy="--timeout 10m") from None
        if seconds == 0.0:
            raise UsageError("--timeout must be more than 0 seconds", remedy="--timeout 10m")
        return seconds

    def words(self, spec: Path | None) -> str:
        """What names the same endpoint again, for the next command."""
        names = ("url", "model", "key_env", "timeout")
        values = [(f"--{name.replace('_', '-')}", getattr(self, name)) for name in names]
        words = [str(spec)] if spec else []
        words += [word for flag, value in values if value for word in (flag, value)]
        return "".join(f" {shell_word(word)}" for word in words)


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

        endpoint = replace(endpoint_of_run(spec, secret), timeout_s=options.timeout_s)
        return replace(endpoint, model=options.model) if options.model else endpoint
    if spec:
        raise UsageError("both a spec and --url were given", remedy="leave one of them out")
    if not options.url.startswith(("http://", "https://")) or not _has_host(options.url):
        raise UsageError(f"{shorten(options.url)!r} is not a URL", remedy="write http://HOST:PORT/v1")
    if secret and "@" in options.url.split("/")[2]:
        raise UsageError("both a password in --url and --key-env were given", remedy="leave one of them out")
    base_url = options.url.rstrip("/")
    base_url = base_url if base_url.endswith("/v1") else f"{base_url}/v1"
    return Endpoint(base_url, options.model or "", secret, timeout_s=options.timeout_s)


def _has_host(url: str) -> bool:
    """Whether its host is a name or an address, and its port a number."""
    try:
        parts = urlsplit(url)
        name = (parts.hostname or "").rstrip(".")
        return 0 < len(name) <= 253 and bool(name.encode("idna")) and parts.port != 0
    except ValueError:  # of the port, the brackets, or a name that no host can have
        return False
