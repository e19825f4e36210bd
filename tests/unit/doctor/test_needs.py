"""What a spec needs of its hosts, as much as is known of it on a machine that has nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.doctor.needs import THIS, needs_of, nothing_needed
from moonpad.spec.loader import load_spec
from moonpad.values.errors import UsageError
from moonpad.values.finding import Code
from moonpad.values.platform import Platform
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples"


@pytest.fixture(autouse=True)
def _nothing_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))


def test_without_a_spec_this_host_for_nothing_in_particular() -> None:
    needs = nothing_needed()
    (host,) = needs.hosts
    assert (host.node, host.ssh, needs.of_node[THIS].devices, needs.findings) == (THIS, None, None, ())


def test_what_is_missing_is_found_and_the_rest_is_known() -> None:
    needs = needs_of(load_spec(EXAMPLES / "thinking-8xh200-latency.toml"))
    need = needs.of_node[THIS]
    assert (need.engine, need.platform, need.devices, need.tp, need.nodes) == ("vllm", Platform.CUDA, 8, 8, 1)
    assert need.ports[8000] == "api of engine"
    assert [finding.code for finding in needs.findings] == [Code.ENGINE_MISSING]


def test_each_host_of_a_spec_has_its_own(tmp_path: Path) -> None:
    text = (EXAMPLES / "instruct-2x8xh200-tp16.toml").read_text(encoding="utf-8")
    first = '\n[[hosts]]\naddress = "10.0.0.1"\n'
    second = '\n[[hosts]]\naddress = "10.0.0.2"\nssh = "root@b"\nport = 2222\n'
    second += 'engine_folder = "/e"\ncheckpoint_folder = "/c"\n'
    (tmp_path / "two.toml").write_text(text + first + second, encoding="utf-8")
    needs = needs_of(load_spec(tmp_path / "two.toml"))
    here, there = needs.hosts
    assert (here.ssh, there.ssh and there.ssh.target, there.ssh and there.ssh.port) == (None, "root@b", 2222)
    assert {need.devices for need in needs.of_node.values()} == {8}
    far = needs.of_node["node-1"]
    assert (far.address, far.engine_folder, far.checkpoint, far.names) == (
        "10.0.0.2",
        "/e",
        "/c",
        ("10.0.0.1", "10.0.0.2"),
    )


def test_hosts_of_pools_are_not_in_the_spec() -> None:
    with pytest.raises(UsageError, match="does not name"):
        needs_of(load_spec(EXAMPLES / "pools" / "instruct-16x8xh200-sglang-4p12d.toml"))
