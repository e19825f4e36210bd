"""Lines of what carries a KV cache or tokens between servers (UCX, NVSHMEM, Mooncake), and of Ray's nodes."""
# ruff: noqa: E501 - lines of logs are as long as they are

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

STARTED = "vllm serve deepseek-ai/DeepSeek-V3.1 --tensor-parallel-size 8\n\n{}\n"
UCX = "[1790000001.204811] [worker-0:412  :0]    "


def told(line: str) -> str:
    findings = [finding for judged in ask(STARTED.format(line)) for finding in judged.findings]
    return " ".join(finding.message for finding in findings if finding.code is Code.LOGGED_FAILURE)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (f"{UCX}ib_iface.c:900 UCX  ERROR ibv_query_gid(dev=mlx5_7 port=1 index=3) failed: Invalid argument", "mlx5_7"),
        (
            f"{UCX}ib_device.c:1332 UCX  ERROR ibv_create_ah(dlid=49152 sl=0 port=1 dgid=fe80::1 sgid_index=0 traffic_class=0) for UD mlx5 connect on mlx5_2 failed: No such device",
            "from mlx5_2 by its GID 0",
        ),
        (
            f"{UCX}ucp_context.c:1300 UCX  WARN  transports 'cuda_copy','cuda_ipc' are not available, please use one or more of: self, sysv, tcp",
            "built without CUDA",
        ),
        (
            f"{UCX}ucp_context.c:1300 UCX  WARN  network device 'mlx5_3:1' is not available, please use one or more of: 'eth0'(tcp), 'lo'(tcp)",
            "knows no mlx5_3:1",
        ),
        (
            f"{UCX}select.c:640 UCX  ERROR   no active messages transport to node-b:77: self/memory - no peer failure handler, cuda_copy/cuda - no am bcopy",
            "no transport by which it can talk",
        ),
        (
            "/src/modules/transport/ibgda/ibgda.cpp:2234: NULL value Unable to create ah.",
            "could not make an address handle",
        ),
        ("/src/modules/transport/ibgda/ibgda.cpp:1889: NULL value cannot allocate mlx5dv_devx_uar", "may not map"),
        (
            "/src/host/transport/transport.cpp:nvshmemi_transport_init:275: init failed for transport: IBGDA",
            "no GPUDirect RDMA",
        ),
        (
            "E20260112 11:16:11.129853 56431 client.cpp:1431] mount_segment_to_master_failed base=0x12c2 size=60, error=RPC_FAIL",
            "could not put its memory into the pool",
        ),
        (
            "E0809 12:00:00.000001 123 nvlink_transport.cpp:497] Requested address 0x7f1c00000000 not found!",
            "its transport over NVLink",
        ),
        ("nixl_cu13._bindings.nixlBackendError: NIXL_ERR_BACKEND", "could not be sent"),
        (
            "RuntimeError: No node info found matching attributes: node_ip_address=10.1.0.9",
            "under which none has joined",
        ),
        (
            "RuntimeError: Every node should have a unique IP address. Got 2 nodes with node ids ['a', 'b'] and 4 unique IP addresses {'10.0.0.1'}.",
            "of 2 nodes report 4 addresses",
        ),
        (
            "ray.exceptions.RayChannelTimeoutError: System error: Timed out waiting for object available to read.",
            "compiled graph",
        ),
        ("ValueError: Failed to get vLLM backend image", "GPUStack has no image"),
        (
            "thread 'main' panicked at lib/runtime/kv.rs:44:29: called `Result::unwrap()` on an `Err` value: BuildError(Unable to create lease. Check etcd server status at http://10.0.0.8:2379",
            "no etcd at http://10.0.0.8:2379",
        ),
        (
            "gpu-3:98:301 [5] misc/ibvwrap.cc:201 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
            "may lock too little memory",
        ),
        ("OSError: [Errno 28] No space left on device: '/psm_1f00a2bc'", "share (/dev/shm) is full"),
        (
            "INFO 04-17 10:45:50 ray_utils.py:214] Waiting for creating a placement group of specs for 310 seconds. specs=[{'GPU': 1.0}]",
            "not as many free devices",
        ),
    ],
)
def test_a_cause_between_servers_is_named(line: str, part: str) -> None:
    assert part in told(line)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (
            f"{UCX}ucp_context.c:1300 UCX  WARN  transport 'gdr_copy' is not available, please use one or more of: cuda, tcp",
            "without CUDA",
        ),
        ("WARN: GPU cannot map UAR of device mlx5_1. Skipping...", "the engine stopped"),
        (
            "INFO 04-17 10:45:50 ray_utils.py:214] Waiting for creating a placement group of specs for 10 seconds. specs=[{'GPU': 1.0}]",
            "not as many free devices",
        ),
    ],
)
def test_what_may_go_on_is_no_cause(line: str, part: str) -> None:
    assert part not in told(line)
