# ruff: noqa: E501 - lines of logs are as long as they are
"""Lines by which Mooncake, UCX, MoRI and llama.cpp's hosts say why nothing moves between machines."""

from __future__ import annotations

import pytest

from tests.unit.explain.test_forms_of_log_lines import LLAMA, SGLANG, TRT, stopped

POOL = f"{SGLANG} --disaggregation-mode prefill --disaggregation-ib-device mlx5_0"
LINES = [
    (POOL, "E1201 10:11:12.120000  4411 rdma_endpoint.cpp:341] [Handshake] Failed to modify QP to INIT, check local context port num: Invalid argument [22]", "E810"),
    (POOL, "E0331 12:03:04.222625 56060 rdma_endpoint.cpp:385] [Handshake] Failed to modify QP to RTR, check mtu, gid, peer lid, peer qp num: Connection timed out [110]", "(Connection timed out)"),
    (TRT, "[1753200000.120000] [gb200-12:4411 :0] cuda_ipc_md.c:300  UCX  ERROR   cuMemImportFromShareableHandle failed: invalid resource handle", "NVLink domains"),
    (SGLANG, "[2026-08-30 10:00:00 DP3 TP3] [mori] ERROR no transport available for peer 12", "RDMA device"),
    (LLAMA, "3.42.171.839 E recv failed (bytes_recv=0, size_to_recv=8)", "has ended"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "line", "named"), LINES)
def test_the_line_names_its_cause(command: str, line: str, named: str) -> None:
    (message, *_) = stopped(f"{command}\n\n```\n{line}\n```\n")
    assert named in message


@pytest.mark.parametrize(
    ("command", "line"),
    [
        # another reason than that of the device
        (POOL, "E1201 10:11:12.120000  4411 rdma_endpoint.cpp:341] [Handshake] Failed to modify QP to INIT: Cannot allocate memory [12]"),
        (POOL, "I0331 12:02:38.363528 56056 rdma_context.cpp:125] RDMA device: mlx5_0, LID: 0, GID: (GID_Index 3) 00:00"),
    ],
)  # fmt: skip
def test_another_line_does_not(command: str, line: str) -> None:
    told = stopped(f"{command}\n\n```\n{line}\n```\n")
    assert [message for message in told if "E810" in message or "reach each other" in message] == []
