# ruff: noqa: E501 - lines of logs are as long as they are
"""Codes by which HCCL and the driver of NPUs say what ended a start, and lines by which AMD's runtime does: each pasted
alone below its command."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

ASCEND = "vllm-ascend v0.18.0, 2 x 8 x 910B3\n\nvllm serve /w/DeepSeek-V3.1-w8a8 -tp 8 -dp 2 --quantization ascend"
AMD = "vllm/vllm-openai-rocm:v0.21.0, 8x MI300X\n\nvllm serve deepseek-ai/DeepSeek-R1 -tp 8"
AT = "[PID: 51] 2026-09-05-10:01:22.333.444 "

CAUSES = [
    (ASCEND, "EI0001: 2026-04-20-10:42:34.020.677 Environment variable [HCCL_EXEC_TIMEOUT] is invalid. Reason: it should be a number from 1s to 17340s.", "HCCL_EXEC_TIMEOUT: it should be a number"),
    (ASCEND, f"{AT}Config_Error_Invalid_Environment_Variable(EI0001): Value 9000 for environment variable HCCL_CONNECT_TIMEOUT is invalid. Expected value: 120 to 7200.", "HCCL_CONNECT_TIMEOUT: 120 to 7200"),
    (ASCEND, "EI0004: 2026-04-24-06:31:33.915.634 The ranktable or rank is invalid, Reason:[The ip in ranktable is not a valid ip address].", "table of ranks"),
    (ASCEND, f"{AT}Config_Error_Ranktable(EI0014): Value 1.0 for ranktable variable version is invalid. Expected value: 2.0.", "1.0 is of A2"),
    (ASCEND, "EI0005: 2026-04-24-06:32:27.781.599 The arguments for collective communication are inconsistent between ranks:tag[AllGather_1], parameter[count], local[16512], remote [8320]", "different sizes, kinds or operations"),
    (ASCEND, "EI0008: 2026-04-24-06:32:27.781.599 The CANN versions are inconsistent: tag[AllGather], local_version[8.5.0], remote_version[8.3.RC1]", "different releases of CANN"),
    (ASCEND, f"{AT}Execution_Error_ROCE_CQE(EI0013): An error CQE occurred during operator execution. Peer information: server 10.0.0.2, device ID 1.", "lost over RoCE"),
    (ASCEND, f"{AT}Ranktable_Detecte_Failed(EI0015): The ranktable information detection failed, Reason:[timeout].", "not all ranks reached the first one"),
    (ASCEND, "[ERROR] the socversion Ascend910B1 of bin package does not match the current device socverison Ascend310P3. Please modify default socversion in run.sh", "built for Ascend910B1"),
    (ASCEND, "RuntimeError: NPU function error: aclrtSynchronizeStreamWithTimeout, error code is 507054", "cannot correct"),
    (ASCEND, "E20260608 14:45:44.404089 342420 ascend_direct_transport.cpp:1107] Connect timeout to: 10.2.0.3:20033, you can increase the timeout", "could not connect to the other side"),
    (AMD, "ValueError: type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b8', 'fp8e5b16')", "fnuz"),
    (AMD, "FileNotFoundError: [Errno 2] No such file or directory: '/opt/venv/lib/python3.12/site-packages/aiter_meta/hsa/gfx942/mla/mla_a8w8_qh16.co'", "no compiled kernel for this case"),
]  # fmt: skip

HAPPENED = [
    (ASCEND, "RuntimeError: call aclnnMoeInitRoutingV3 failed, error code is 561103", "broke off in its own code"),
    (ASCEND, "RuntimeError: Initialize:npu_sys_ctrl.cpp:146 NPU function error: c10_npu::SetDevice(device_id_), error code is 507033", "could not be opened"),
    (ASCEND, "RuntimeError: NPU function error: aclrtMallocPhysical, error code is 507899", "driver of the NPUs"),
    (ASCEND, "RuntimeError: SUSPECT REMOTE ERROR. NPU function error: aclrtSynchronizeStream, error code is 507057", "another NPU's memory"),
    (AMD, "Memory access fault by GPU node-3 (Agent handle: 0x55d0) on address 0x7f0a00000000. Reason: Unknown.", "a kernel broke off"),
    (AMD, "HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception. code: 0x1016", "a kernel broke off"),
    (AMD, ":0:rocdevice.cpp            :3020: 1234567 us:  Callback: Queue 0x7f aborting with error : HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception. code: 0x1016", "a kernel broke off"),
]  # fmt: skip


def told(command: str, line: str) -> list[tuple[Severity, str]]:
    findings = [each for judged in ask(f"{command}\n\n```\n{line}\n```\n") for each in judged.findings]
    return [(each.severity, each.message) for each in findings if each.code is Code.LOGGED_FAILURE]


@pytest.mark.parametrize(("command", "line", "part"), CAUSES)
def test_a_line_names_its_cause(command: str, line: str, part: str) -> None:
    ((severity, message),) = told(command, line)
    assert severity is Severity.WARNING
    assert part in message


@pytest.mark.parametrize(("command", "line", "part"), HAPPENED)
def test_a_line_says_what_happened(command: str, line: str, part: str) -> None:
    ((severity, message),) = told(command, line)
    assert severity is Severity.NOTE
    assert part in message


def test_old_nvidia_devices_have_no_form_of_their_own() -> None:
    line = "ValueError: type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')"
    ((_, message),) = told("vllm serve deepseek-ai/DeepSeek-R1 -tp 8", line)
    assert "before SM89" in message


def test_a_list_of_codes_is_no_log() -> None:
    assert not told(ASCEND, "EI0004 Invalid ranktable configuration\nEI0008 Inconsistent CANN versions")
