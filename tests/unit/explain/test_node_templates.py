"""Arguments of each node whose variables another list of the same file fills."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.device_mentions import machines_of
from moonpad.explain.input_limits import Budget
from tests.unit.explain.judging import ask, layout

FILE = """\
model: "org/Kimi-K2.6-w4a8"
routing:
  groups:
    prefiller: [0]
    decoder: [1]
config:
  - {node_index: 0, dp_size: 2, tp_size: 8, dp_address: "${NODE_0_IP}"}
  - {node_index: 1, dp_size: 4, tp_size: 4}
templates:
  - node_index: 0
    envs: {HCCL_BUFFSIZE: "512"}
    server_cmd_template: [--data-parallel-size, "${DP_SIZE}", --tensor-parallel-size, $TP_SIZE, --max-model-len, 68000]
  - node_index: 1
    server_cmd_template: [--data-parallel-size, "${DP_SIZE}", --tensor-parallel-size, "${TP_SIZE}", --port, "$PORT"]
"""


def test_each_node_has_its_own_sizes() -> None:
    prefill, decode = ask(FILE)
    assert (layout(prefill), prefill.kind) == ((8, 1, 2), "prefill")
    assert (layout(decode), decode.kind) == ((4, 1, 4), "decode")
    assert prefill.model_written == decode.model_written == "org/Kimi-K2.6-w4a8"
    assert prefill.settings is not None
    assert prefill.settings.max_model_len == 68000


def test_what_is_not_filled_in_stays_unknown() -> None:
    (prefill, *_) = ask(FILE.replace("tp_size: 8, ", ""))
    assert "tp" in prefill.unknown


def test_a_compose_file_whose_services_are_moved_in() -> None:
    service = "  services:\n    k:\n      image: vllm/vllm-openai:v0.18.1\n      command: >\n        --model m/K2\n"
    text = f'version: "3.9"\n\n{service}        --tensor-parallel-size 4\n'
    (one, *_) = ask(f"```docker-compose\n{text}```\n")
    assert layout(one) == (4, 1, 1)


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("NVIDIA B200 GPU (8x)", "8xB200"),
        ("H200 (x8)", "8xH200"),
        ("H20 cards (×16)", "16xH20"),
    ],
)
def test_a_number_in_brackets_behind_the_kind(text: str, machine: str) -> None:
    assert [name for _, name in machines_of(text, Budget())] == [machine]
