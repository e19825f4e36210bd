"""SGLang on this machine's processor, by the same commands as vLLM."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.environments.installed import InstalledEngine, find
from tests.e2e.conftest import Served, command_in, write_spec
from tests.e2e.test_layouts import answers, try_two_hosts

pytestmark = pytest.mark.slow

LAYOUTS = {"sglang": "", "sglang-tp2": "[layout]\ntp = 2\n"}


@pytest.fixture
def sglang() -> InstalledEngine:
    found = find("sglang-cpu")
    if found is None:
        pytest.skip("no engine here: moonpad engine install sglang-cpu")
    return found


@pytest.mark.parametrize("name", LAYOUTS)
def test_it_serves_what_vllm_serves(served: Served, sglang: InstalledEngine, tmp_path: Path, name: str) -> None:
    moonpad = command_in(tmp_path)
    spec, _ = write_spec(tmp_path, name, LAYOUTS[name], engine="sglang-cpu")
    up = moonpad("up", str(spec), "--json", timeout_s=400.0)
    assert up.code == 0, up.stderr
    try:
        (there,) = moonpad("status", "--json").json["endpoints"]
        assert there["kv_tokens"]["measured"] == there["kv_tokens"]["planned"]["value"]
        verified = moonpad("verify", str(spec), "--json", timeout_s=300.0)
        assert verified.code == 0, verified.stdout
        states = {probe["id"]: probe["status"] for probe in verified.json["probes"]}
        assert states.pop("wrong_model") == "skip"
        assert set(states.values()) == {"pass"}
        assert answers(up.json["base_url"], served.model) == answers(served.base_url, served.model)
    finally:
        down = moonpad("down", str(spec))
    assert down.code == 0, down.stderr


def test_two_hosts(served: Served, sglang: InstalledEngine, tmp_path: Path) -> None:
    try_two_hosts(tmp_path, sglang, LAYOUTS["sglang-tp2"], served.model)
