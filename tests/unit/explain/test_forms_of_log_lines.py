# ruff: noqa: E501 - lines of logs are as long as they are
"""Lines of logs in the forms that programs below an engine write, pasted under the command that they came from: each
names its cause, and no shell reads it."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

LLAMA = "llama-server -m Kimi-K2-Instruct-Q4_K_M-00001-of-00013.gguf"
SGLANG = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16"
ASCEND = "vllm serve /w/Kimi-K2.5-w4a8 -tp 16 --quantization ascend"
TRT = "trtllm-serve moonshotai/Kimi-K2-Instruct --tp_size 8"
VLLM = "vllm serve moonshotai/Kimi-K2-Instruct -tp 16"

FORMS = [
    (LLAMA, "0.00.386.093 E RPC server version mismatch: 4.0.1", "of another build"),
    (LLAMA, "/src/ggml/src/ggml-rpc/ggml-rpc.cpp:615: Remote RPC server crashed or returned malformed response", "rpc-server"),
    (LLAMA, "Failed to connect to 10.0.2.9:50052", "rpc-server"),
    (LLAMA, "llama-server: error while loading shared libraries: libllama.so: cannot open shared object file", "libllama.so"),
    (LLAMA, "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED", "cuBLAS"),
    (ASCEND, "[rank1]: EI0006: [PID: 1292363] 2026-04-08-18:07:20.444.436 Getting socket times out. Reason: Remote Rank did not send the data in time.", "HCCL"),
    (ASCEND, "[ERROR] HCCL(2717288,python3):2026-07-23-03:47:57.070.463 [hccl_socket.cc:100] [2717288][HcclSocket][Listen] socket type[1], listen on ip[192.168.0.1] and specific port[16666] fail. Please check the port status", "port"),
    (ASCEND, "HCCL_BUFFSIZE is too SMALL, maxBs = 512, h = 7168, epWorldSize = 16", "HCCL_BUFFSIZE"),
    (SGLANG, "[2026-01-29 13:12:37 PP1 TP1] Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)", "watchdog"),
    (SGLANG, "Assertion failed: /src/DeepEP/csrc/kernels/internode.cu:483, condition: ibgda_get_state()->num_rc_per_pe >= num_channels", "DeepEP"),
    (SGLANG, "Exception: flashinfer_python with minimum required version 0.2.5 is not installed. Please uninstall the old version", "flashinfer_python 0.2.5"),
    (SGLANG, "Fatal Python error: Bus error", "/dev/shm"),
    (TRT, "[host:15806] PRTE ERROR: Bad parameter in file base/odls_base_default_fns.c at line 962", "MPI"),
    (TRT, "[03/27/2026-11:09:02] [TRT] [E] 6: The engine plan file is generated on an incompatible device, expecting compute 8.0 got compute 8.9", "engine"),
    (VLLM, "[multiproc_executor.py:492] ValueError: Free memory on device (31.44/47.38 GiB) on startup is less than desired GPU memory utilization (0.95, 45.01 GiB).", "31.44 of 47.38 GiB are free"),
    (VLLM, "/bin/sh: 1: /usr/local/cuda/bin/nvcc: not found", "nvcc"),
    (VLLM, "docker: Error response from daemon: failed to create task for container: OCI runtime create failed: exec: \"vllm\": executable file not found in $PATH: unknown.", "vllm"),
]  # fmt: skip


def stopped(text: str) -> list[str]:
    found = [finding.message for judged in ask(text) for finding in judged.findings]
    return [message.partition("the engine stopped: ")[2] for message in found if "the engine stopped" in message]


@pytest.mark.parametrize(("command", "line", "named"), FORMS)
def test_the_line_names_its_cause(command: str, line: str, named: str) -> None:
    fenced = f"We start it so:\n\n```sh\n{command}\n```\n\nand get\n\n```\n{line}\n```\n"
    for text in (f"{command}\n\n{line}\n", fenced):
        (message, *_) = stopped(text)
        assert named in message


def test_such_a_line_is_no_command() -> None:
    """Its brackets are none of a shell; those of a line that no program logs are."""
    logged = (
        "terminate called after throwing an instance of 'tensorrt_llm::common::TllmException'\n"
        "  what():  [TensorRT-LLM][ERROR] Assertion failed: it should be so (/src/cpp/attentionOp.cpp:2056)"
    )
    assert read_script(f"{TRT}\n{logged}\n").problems == ()
    assert read_script(f"{TRT}\n{logged.replace('what():', 'what() :')}\n").problems != ()


@pytest.mark.parametrize(
    "words",
    [
        "If you see `CUDA error: CUBLAS_STATUS_NOT_INITIALIZED`, the memory is full.",
        "Common errors: `Fatal Python error: Bus error` means that /dev/shm is too small.",
        "Set a larger --watchdog-timeout, since a watchdog timeout (300 s by default) ends the server.",
    ],
)
def test_talk_about_such_a_line_stops_nothing(words: str) -> None:
    assert stopped(f"{SGLANG}\n\n{words}\n") == []
