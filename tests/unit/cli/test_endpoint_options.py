"""Which endpoint a verb means, from its options alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.cli.endpoint import EndpointOptions, resolve_endpoint
from moonpad.values.errors import UsageError


@pytest.mark.parametrize(
    ("url", "base_url"),
    [
        ("http://host:1/v1", "http://host:1/v1"),
        ("http://host:1", "http://host:1/v1"),
        ("https://host/kimi/", "https://host/kimi/v1"),
    ],
)
def test_a_url_ends_in_v1(url: str, base_url: str) -> None:
    assert resolve_endpoint(None, EndpointOptions(url=url)).base_url == base_url


def test_the_key_comes_by_the_name_of_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "abc")
    endpoint = resolve_endpoint(None, EndpointOptions(url="http://host", key_env="A_KEY", model="kimi"))
    assert endpoint.headers() == {"Authorization": "Bearer abc"}
    assert endpoint.model == "kimi"
    assert "abc" not in repr(endpoint)


@pytest.mark.parametrize("key", ["", "abc\ndef", "abc\x1b"])
def test_a_key_that_is_none_or_breaks_a_header(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("A_KEY", key)
    with pytest.raises(UsageError, match="A_KEY"):
        resolve_endpoint(None, EndpointOptions(url="http://host", key_env="A_KEY"))


@pytest.mark.parametrize(
    ("spec", "url", "message"),
    [(Path("a.toml"), "http://host", "both"), (None, "ftp://host", "not a URL"), (None, "host:8000", "not a URL")],
)
def test_refused(spec: Path | None, url: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        resolve_endpoint(spec, EndpointOptions(url=url))


def test_the_words_name_it_again() -> None:
    options = EndpointOptions(url="http://host/v1", model="a model", key_env="A_KEY")
    assert options.words(None) == " --url http://host/v1 --model 'a model' --key-env A_KEY"
    assert EndpointOptions().words(Path("my spec.toml")) == " 'my spec.toml'"


def test_a_time_limit_is_a_duration() -> None:
    options = EndpointOptions(url="http://host", timeout="90s")
    assert resolve_endpoint(None, options).timeout_s == 90.0
    assert options.words(None) == " --url http://host --timeout 90s"
    assert resolve_endpoint(None, EndpointOptions(url="http://host")).timeout_s is None


@pytest.mark.parametrize("timeout", ["0s", "0.0m", "10", "-1s", "soon", "", "9" * 12 + "s"])
def test_a_time_limit_that_is_none(timeout: str) -> None:
    with pytest.raises(UsageError, match="--timeout"):
        resolve_endpoint(None, EndpointOptions(url="http://host", timeout=timeout))
