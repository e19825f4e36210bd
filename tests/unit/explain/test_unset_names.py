"""Variables that nothing sets, in scripts that end at the first of them."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8"


def said(text: str) -> str:
    told = (finding.message for one in ask(text) for finding in one.findings)
    return next((message for message in told if "ends the script at a variable" in message), "")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"#!/bin/bash\nset -euo pipefail\n{START} --host $node_ip", ["$node_ip (line 3)"]),
        (
            f'set -o nounset\nexport GLOO_SOCKET_IFNAME="$nic"\n{START} \\\n  --master-addr ${{head_ip}}',
            ["$nic (line 2)", "$head_ip (line 4)"],
        ),
        (f"set -u\nexport LD_PRELOAD=/usr/lib/libjemalloc.so.2:$LD_PRELOAD\n{START}", ["$LD_PRELOAD (line 2)"]),
        (f"set -eu\nsource .venv/bin/activate\n{START} --host $node_ip", ["$node_ip (line 3)"]),
    ],
)
def test_names_that_no_line_sets(text: str, names: list[str]) -> None:
    assert all(name in said(text) for name in names)


@pytest.mark.parametrize(
    "text",
    [
        f"set -e\n{START} --host $node_ip",
        f"set -euo pipefail\nnode_ip=$(hostname -i)\n{START} --host $node_ip",
        f"set -euo pipefail\n# node_ip: of this machine, exported by the caller\n{START} --host $node_ip",
        f"set -euo pipefail\n: ${{node_ip:?}}\n{START} --host $node_ip",
        f"set -euo pipefail\nread -r node_ip rest < nodes.txt\n{START} --host $node_ip",
        f"set -euo pipefail\nsource ./cluster.sh\n{START} --host $node_ip",
        f"set -euo pipefail\nset +u\n{START} --host $node_ip",
        f"set -euo pipefail\nif [ -f x ]; then\n  echo $node_ip\nfi\n{START}",
        f"set -euo pipefail\nawk '\n{{ print $node_ip }}\n' nodes.txt\n{START}",
        f"set -euo pipefail\necho '$node_ip' \\$node_ip\n{START}",
        f"set -euo pipefail\ncat <<EOF > x\n$node_ip\nEOF\n{START}",
        f"set -euo pipefail\n{START} --host $HEAD_IP --port $PORT",
        f'set -u\nexport LD_PRELOAD="/usr/lib/libjemalloc.so.2${{LD_PRELOAD:+:$LD_PRELOAD}}"\n{START}',
        f"set -u\nexport LD_LIBRARY_PATH=/opt/lib:$LD_LIBRARY_PATH\n{START}",
    ],
)
def test_names_that_are_set_or_may_be(text: str) -> None:
    assert not said(text)
