"""`moonpad checkpoint get` from a hub that speaks ModelScope's API: whole, resumed, and nothing taken on trust."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moonpad.checkpoints.modelscope import ModelScopeHub
from moonpad.values.errors import CheckpointError
from tests.conftest import Moonpad
from tests.faults.helpers import wait_until
from tests.faults.test_download import files_of
from tests.hub_server import COMMIT, HubServer, hub_server
from tests.unit.checkpoints.conftest import Writer

MODEL = "vllm-ascend/Kimi-K2-Instruct-W8A8"
TOKEN = "ms-" + "Zq7" * 12


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("model")
    Writer().checkpoint(folder, shards=3, tensors=400)
    return files_of(folder)


@pytest.fixture
def hub(files: dict[str, bytes]) -> Iterator[HubServer]:
    with hub_server(files, id=MODEL) as server:
        yield server


def get(moonpad: Moonpad, hub: HubServer, *words: str, name: str = MODEL, **env: str) -> Any:
    env = {"MODELSCOPE_DOMAIN": hub.url, "NO_PROXY": "*", "MODELSCOPE_CACHE": str(moonpad.home / "ms"), **env}
    return moonpad("checkpoint", "get", name, *words, "--json", **env)


def test_where_the_catalogue_says_so(moonpad: Moonpad, hub: HubServer) -> None:
    """Into the cache where its own program keeps it; the same again fetches nothing; the digests are known later."""
    done = get(moonpad, hub, name="k2-instruct-w8a8")
    folder = moonpad.home / "ms" / "models" / "vllm-ascend" / "Kimi-K2-Instruct-W8A8"
    assert (done.json["repository"], done.json["revision"], Path(done.json["folder"])) == (MODEL, COMMIT, folder)
    assert files_of(folder) == hub.files
    assert hub.sent.total() == hub.size_bytes
    assert get(moonpad, hub).json["downloaded_files"] == 0
    assert hub.sent.total() == hub.size_bytes
    verified = moonpad("checkpoint", "verify", str(folder), "--deep", "--json").json
    assert (verified["whole"], len(verified["digests"]["files"])) == (True, len(hub.files))


@pytest.mark.slow
def test_killed_and_resumed(moonpad: Moonpad, hub: HubServer) -> None:
    hub.files["model-00002-of-00003.safetensors"] += bytes(40 << 20)
    hub.rate = 30e6
    out = moonpad.home / "model"
    env = {"MODELSCOPE_DOMAIN": hub.url, "NO_PROXY": "*"}
    running = moonpad.start("checkpoint", "get", MODEL, "--hub", "modelscope", "--out", str(out), **env)
    wait_until(lambda: hub.sent.total() > 25 << 20, lambda: "nothing was sent", 60.0)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    before, hub.rate = hub.sent.total(), 0.0
    get(moonpad, hub, "--out", str(out))
    assert files_of(out) == hub.files
    assert hub.sent.total() - before < hub.size_bytes, "what was there was not fetched again"


def test_with_a_token_and_without(moonpad: Moonpad, hub: HubServer) -> None:
    hub.token = TOKEN
    refused = get(moonpad, hub)
    assert refused.code == 3
    assert "set MODELSCOPE_API_TOKEN" in refused.stderr
    assert get(moonpad, hub, MODELSCOPE_API_TOKEN=TOKEN).code == 0


def changed(hub: HubServer, **values: Any) -> dict[str, Any]:
    listing = hub.listing()
    listing["Data"]["Files"][1] |= values
    return listing


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"Path": "../../.bashrc"}, "outside its folder"),
        ({"Path": "/etc/passwd"}, "outside its folder"),
        ({"Size": "12"}, "neither size nor digest"),
        ({"Size": -1}, "neither size nor digest"),
        ({"Sha256": ""}, "neither size nor digest"),
        ({"Sha256": None}, "neither size nor digest"),
    ],
)
def test_a_listing_that_is_not_to_be_trusted(
    hub: HubServer, values: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODELSCOPE_DOMAIN", hub.url)
    hub.described = changed(hub, **values)
    with pytest.raises(CheckpointError, match=words):
        ModelScopeHub().look_up(MODEL, "master")


@pytest.mark.parametrize(
    "document", [[], {"Code": 200}, {"Code": 200, "Data": {"Files": []}}, {"Data": 1}, {"Code": 404}]
)
def test_another_api(hub: HubServer, document: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSCOPE_DOMAIN", hub.url)
    hub.described = document or {"x": 1}
    with pytest.raises(CheckpointError):
        ModelScopeHub().look_up(MODEL, "master")
    with pytest.raises(CheckpointError):
        ModelScopeHub().look_up(MODEL, "no-such-branch")
    hub.described = {**hub.listing(), "Data": {**hub.listing()["Data"], "TotalCount": 99}}
    with pytest.raises(CheckpointError, match=r"6 of the 99|7 of the 99"):
        ModelScopeHub().look_up(MODEL, "master")
