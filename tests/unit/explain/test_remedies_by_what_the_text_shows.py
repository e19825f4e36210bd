"""What helps against an error depends on what else the text shows: devices that are still held, a variable for the
address that could not be bound, a draft whose own backend refuses. What Corrected leaves as it was is named."""

from __future__ import annotations

from moonpad.explain.spoiling import left_in
from moonpad.values.finding import Code, Finding
from tests.unit.explain.judging import only_server

SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --tp-size 8 --mem-fraction-static 0.85"
VLLM = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code"


def failure(command: str, behind: str) -> Finding:
    judged = only_server(f"8x H200\n\n```bash\n{command}\n```\n\n{behind}\n")
    return next(finding for finding in judged.findings if finding.code is Code.LOGGED_FAILURE)


LITTLE = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."


def test_memory_that_is_held_is_freed_before_the_share_is_raised() -> None:
    held = f"{LITTLE}\n```\n$ nvidia-smi\n0, 97486 MiB, 143771 MiB\n```"
    assert failure(SGLANG, held).remedy.startswith("end what holds the devices")
    assert failure(SGLANG, f"{LITTLE}\n```\n645 Z 0 sglang <defunct>\n```").remedy.startswith("end what holds")


def test_free_devices_leave_the_share() -> None:
    assert failure(SGLANG, f"{LITTLE}\n```\n$ nvidia-smi\n0, 3 MiB, 143771 MiB\n```").remedy.startswith("raise --mem")
    assert failure(SGLANG, LITTLE).remedy.startswith("raise --mem-fraction-static")


BOUND = "zmq.error.ZMQError: Cannot assign requested address (addr='tcp://10.72.22.47:5558')"


def test_the_variable_of_the_side_channel_is_named_where_it_is_set() -> None:
    command = f"export VLLM_NIXL_SIDE_CHANNEL_HOST=10.72.22.47\n{VLLM}"
    assert "VLLM_NIXL_SIDE_CHANNEL_HOST" in failure(command, BOUND).remedy
    assert "VLLM_NIXL_SIDE_CHANNEL_HOST" not in failure(VLLM, BOUND).remedy


REFUSED = (
    "ValueError: Selected backend AttentionBackendEnum.FLASHMLA is not valid for this configuration. Reason: "
    "['non-causal attention not supported']"
)


def test_a_draft_that_is_refused_is_mended_at_the_draft() -> None:
    draft = """{"method":"dspark","model":"a/b","num_speculative_tokens":3,"attention_backend":"FLASHMLA"}"""
    finding = failure(f"{VLLM} --speculative-config '{draft}'", REFUSED)
    assert "draft" in finding.message
    assert "leave --attention-backend out" not in finding.remedy
    plain = failure(f"{VLLM} --attention-backend FLASHMLA", REFUSED.replace("non-causal attention", "sparse"))
    assert plain.remedy.startswith("leave --attention-backend out")


TIMEOUT = "TimeoutError: Timed out waiting for engine core processes to start."


def test_a_limit_that_was_too_short_is_set_in_corrected() -> None:
    judged = only_server(f"8x H200\n\n```bash\n{VLLM}\n```\n\n```text\n{TIMEOUT}\n```\n")
    assert judged.corrected[0].env.get("VLLM_ENGINE_READY_TIMEOUT_S") == "3600"


def test_a_longer_limit_stays() -> None:
    command = f"export VLLM_ENGINE_READY_TIMEOUT_S=7200\n{VLLM}"
    judged = only_server(f"8x H200\n\n```bash\n{command}\n```\n\n```text\n{TIMEOUT}\n```\n")
    assert all(line.env.get("VLLM_ENGINE_READY_TIMEOUT_S") != "3600" for line in judged.corrected)


def test_what_corrected_does_not_mend_is_named() -> None:
    text = f"8x H200\n\n```bash\n{VLLM}\n```\n\n```text\nFrobError: no frob\n```\n"
    assert "line 8" in [remark.finding.where for remark in left_in(only_server(text))]
    ray = (
        "docker run --gpus all --ipc=host vllm/vllm-openai:v0.20.0 --model moonshotai/Kimi-K2.6"
        " --tensor-parallel-size 8 --pipeline-parallel-size 2 --distributed-executor-backend ray"
    )
    places = [remark.finding.where for remark in left_in(only_server(f"8x H200\n\n```bash\n{ray}\n```\n"))]
    assert "--distributed-executor-backend" in places
