"""A user and a password in the URL: sent by the client that measures too, and never with a key."""

from __future__ import annotations

import base64

import pytest

from moonpad.cli.endpoint import EndpointOptions, resolve_endpoint
from moonpad.load.endpoint_url import target_of
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import UsageError
from moonpad.values.secret import Secret


def test_it_is_sent() -> None:
    basic = base64.b64encode(b"me:p@ss word").decode()
    assert f"Authorization: Basic {basic}\r\n" in target_of(Endpoint("http://me:p%40ss%20word@h:1/v1", "m")).head
    assert "Basic" not in target_of(Endpoint("http://h:1/v1", "m", Secret("sk-1234567"))).head


def test_not_with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K", "sk-1234567")
    with pytest.raises(UsageError, match="both a password in --url and --key-env") as caught:
        resolve_endpoint(None, EndpointOptions(url="http://me:pass-word-1@h:1", key_env="K"))
    assert "pass-word-1" not in str(caught.value.message)
