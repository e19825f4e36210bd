"""Fault 59: a secret is never printed, however one tries."""

from __future__ import annotations

import copy
import json
import pickle
import traceback

import orjson
import pytest

from moonpad.values.endpoint import Endpoint
from moonpad.values.secret import Secret

CANARY = "sk-canary-1234"


@pytest.fixture
def secret() -> Secret:
    return Secret(CANARY)


def test_only_reveal_gives_the_text(secret: Secret) -> None:
    assert secret.reveal() == CANARY


def test_every_way_to_print_it(secret: Secret) -> None:
    printed = [
        str(secret),
        repr(secret),
        f"{secret}",
        f"{secret!r:>20}",
        f"{secret:>20}",
        "%s %r" % (secret, secret),  # noqa: UP031 - this way too
        str([secret]),
        str({"key": secret}),
        repr(Endpoint("http://a/v1", "kimi", secret)),
        json.dumps({"key": secret}, default=str),
        orjson.dumps({"key": secret}, default=str).decode(),
    ]
    assert not any("canary" in text for text in printed)
    assert all("***" in text for text in printed)


def test_json_refuses_it(secret: Secret) -> None:
    with pytest.raises(TypeError):
        json.dumps(secret)
    with pytest.raises(TypeError):
        orjson.dumps(secret)


def test_it_is_not_in_a_traceback_with_its_locals(secret: Secret) -> None:
    def fail(key: Secret) -> None:
        raise ValueError(f"wrong: {key}")

    with pytest.raises(ValueError, match=r"wrong: \*\*\*") as caught:
        fail(secret)
    captured = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert "canary" not in "".join(captured.format())


def test_it_is_not_pickled(secret: Secret) -> None:
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(secret)
    with pytest.raises(TypeError, match="not pickled"):
        copy.deepcopy(secret)


def test_equal_by_text_and_never_to_the_text(secret: Secret) -> None:
    assert secret == Secret(CANARY)
    assert hash(secret) == hash(Secret(CANARY))
    assert secret != Secret("other")
    assert secret != CANARY
    assert hash(secret) != hash(CANARY)


def test_the_header_of_an_endpoint() -> None:
    assert Endpoint("http://a/v1", "kimi", Secret("k")).headers() == {"Authorization": "Bearer k"}
    assert Endpoint("http://a/v1", "kimi").headers() == {}
    assert Endpoint("http://a:8000/v1", "kimi").root_url == "http://a:8000"
