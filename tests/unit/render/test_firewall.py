"""The firewall as a text; tests/faults/test_firewall.py applies it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from moonpad.render.targets import render_for
from moonpad.spec.loader import load_spec
from tests.configurations import make_plan

EXAMPLES = Path(__file__).parents[3] / "examples"
SHELLCHECK = Path(sys.executable).with_name("shellcheck")


def files(example: str, target: str) -> dict[str, str]:
    spec = load_spec(EXAMPLES / f"{example}.toml").spec
    return {path: file.text for path, file in render_for(target, spec, make_plan(spec, 0, "fp8")).files.items()}


@pytest.mark.parametrize("target", ["shell", "docker", "compose"])
def test_one_a_host_where_there_are_several(target: str) -> None:
    both = files("instruct-2x8xh800-dp16", target)
    assert {path for path in both if "firewall" in path} == {"node-0/firewall.sh", "node-1/firewall.sh"}
    assert not any("firewall" in path for path in files("thinking-8xh200-latency", target))


def test_each_port_that_a_node_listens_on_beside_the_api_is_closed() -> None:
    first = files("instruct-2x8xh800-dp16", "shell")["node-0/firewall.sh"]
    assert 'echo "tcp dport ${MOONPAD_PORT_ENGINE_DP_RPC} drop"' in first
    assert 'echo "tcp dport ${MOONPAD_PORT_API} accept"' in first
    assert first.index("accept") < first.index("drop")


def test_ray_has_a_range_of_its_own() -> None:
    for node in ("node-0", "node-1"):
        assert '"tcp dport 10002-19999 drop"' in files("instruct-2x8xh800-ray", "shell")[f"{node}/firewall.sh"]
    assert "10002" not in files("instruct-2x8xh800-dp16", "shell")["node-0/firewall.sh"]


@pytest.mark.parametrize("node", ["node-0", "node-1"])
def test_shellcheck(node: str, tmp_path: Path) -> None:
    script = tmp_path / "firewall.sh"
    script.write_text(files("instruct-2x8xh800-dp16", "shell")[f"{node}/firewall.sh"])
    done = subprocess.run((str(SHELLCHECK), str(script)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
