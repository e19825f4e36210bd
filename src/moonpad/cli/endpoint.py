"""Which endpoint a verb means: a URL that the user names, or the run of a spec."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from cyclopts import Parameter

from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import UsageError
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

    def words(self, spec: Path | None) -> str:
        """What names the same endpoint again, for the next command."""
        options = (("--url", self.url), ("--model", self.model), ("--key-env", self.key_env))
        words = [str(spec)] if spec else []
        words += [word for flag, value in options if value for word in (flag, value)]
        return "".join(f" {shell_word(word)}" for word in words)


def resolve_endpoint(spec: Path | None, options: EndpointOptions) -> Endpoint:
    """The endpoint of `--url`, else the one that `moonpad up` keeps for the spec, else the only one that is up.

    Raises:
        UsageError: none, or more than one, could be meant.
    """
    key = os.environ.get(options.key_env, "") if options.key_env else ""
    if options.key_env and not key:
        raise UsageError(f"the environment variable {options.key_env} is not set", remedy=f"export {options.key_env}=…")
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
    if not options.url.startswith(("http://", "https://")):
        raise UsageError(f"{options.url!r} is not a URL", remedy="write http://HOST:PORT/v1")
    if secret and "@" in options.url.split("/")[2]:
        raise UsageError("both a password in --url and --key-env were given", remedy="leave one of them out")
    base_url = options.url.rstrip("/")
    return Endpoint(base_url if base_url.endswith("/v1") else f"{base_url}/v1", options.model or "", secret)
