"""The B300 of a text about GB300 NVL72 are the GPUs of that rack, of which each node has four.

NVIDIA: a GB300 NVL72 joins 18 trays of four Blackwell Ultra GPUs by NVLink, a DGX or HGX B300 has eight.
"""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SERVE = """```bash
python3 -m sglang.launch_server --model-path moonshotai/Kimi-K3 --trust-remote-code --tp-size 8 --nnodes 2 \\
  --node-rank 0 --dist-init-addr 10.0.0.1:5000
```
"""


def _devices(text: str) -> str:
    judged = ask_one(f"{text}\n\n{SERVE}", on="")
    return judged.cluster.name if judged.cluster is not None else ""


@pytest.mark.parametrize(
    "text",
    [
        "GB300 NVL72, 32 x B300",
        "GB300 NVL72，每节点 4 GPU\n\n| fleet | 8 pod × 4 GPU = **32 张 B300** |",
        "A rack of GB300 NVL72: 18 trays x 4xB300",
        "GB300, four GPUs a node\n\nThe pool has 16x B300.",
    ],
)
def test_gpus_of_a_rack(text: str) -> None:
    assert _devices(text) == "2x4xGB300"
    messages = [each.message for each in ask_one(f"{text}\n\n{SERVE}", on="").findings]
    assert not [each for each in messages if "reaches over machines" in each]


def test_gpus_of_the_rack_before() -> None:
    assert _devices("GB200 NVL72, 16 x B200") == "2x4xGB200"


@pytest.mark.parametrize(
    "text",
    [
        "DGX B300, 8xB300 in each of 2 nodes; elsewhere GB300 NVL72",
        "2x8xB300",
        "16xB300 (GB300 NVL72 is faster)\n",
        "16x B300 instead of GB300 NVL72",
        "32 x B300",
    ],
)
def test_machines_of_eight_stay_what_they_are(text: str) -> None:
    assert "GB300" not in _devices(text)
