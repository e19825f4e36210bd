"""A server for one half of each request, in a text that has nothing of the other half."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_files, read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding, Severity

SERVE = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp-size 8 --trust-remote-code"
DECODE = f"{SERVE} --disaggregation-mode decode --disaggregation-transfer-backend nixl --max-running-requests 64"
PREFILL = f"{SERVE} --disaggregation-mode prefill --chunked-prefill-size 8192"


def alone(text: str) -> list[Finding]:
    findings = [finding for each in judge(read_script(text), Question()) for finding in each.findings]
    return [finding for finding in findings if "the only server here" in finding.message]


def pod(command: str, name: str = "k2") -> str:
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\nspec:\n  containers:\n    - name: server\n"
        f"      image: lmsysorg/sglang:v0.5.9\n      command: [bash, -c]\n      args: ['{command}']\n"
    )


@pytest.mark.parametrize(
    "text", [f"#!/bin/bash\nexport NCCL_DEBUG=INFO\n{DECODE}\n", pod(DECODE), f"#!/bin/bash\n{PREFILL}\n"]
)
def test_nothing_sends_it_requests(text: str) -> None:
    (finding,) = alone(text)
    assert (finding.severity, finding.where) == (Severity.WARNING, "--disaggregation-mode")
    assert "--disaggregation-mode" in finding.remedy


@pytest.mark.parametrize("text", [f"It stops after an hour.\n\n```bash\n{DECODE}\n```\n", f"{DECODE}\n"])
def test_a_thread_or_a_command_may_show_one_side(text: str) -> None:
    (finding,) = alone(text)
    assert finding.severity is Severity.NOTE


@pytest.mark.parametrize(
    "text",
    [
        f"{SERVE}\n",
        f"{DECODE} --port 30001 &\n{PREFILL} --port 30000\n",
        f"{DECODE} &\npython -m sglang_router.launch_router --pd-disaggregation --decode http://127.0.0.1:30000\n",
        f"# the prefill server runs on node-1\n{DECODE}\n",
        f"# decode node 0\n{DECODE}\n",
        f"ROUTER=http://192.0.2.1:8000\n{DECODE}\n",
        f"# 1P1D, second script\n{DECODE}\n",
        pod(DECODE, "k2-decode"),
        f"{SERVE} --disaggregation-mode $ROLE\n",
        f"{SERVE} --disaggregation-mode null\n",
        DECODE.replace("sglang.launch_server", "dynamo.sglang") + "\n",
    ],
)
def test_the_other_side_may_be_there(text: str) -> None:
    assert alone(text) == []


def test_of_several_files_nothing_is_said() -> None:
    script = read_files([("a.sh", f"{DECODE}\n"), ("b.sh", "echo start\n")])
    findings = [finding for each in judge(script, Question()) for finding in each.findings]
    assert not [finding for finding in findings if "the only server here" in finding.message]


COPIED = """# prefilling instance
vllm serve a/b --port 1 --kv-transfer-config '{"kv_connector":"P2pNcclConnector","kv_role":"kv_producer"}'

# decoding instance
vllm serve a/b --port 2 --kv-transfer-config '{"kv_connector":"P2pNcclConnector","kv_role":"kv_producer"}'
"""


def copied(text: str) -> list[Severity]:
    findings = [finding for each in judge(read_script(text), Question()) for finding in each.findings]
    return [finding.severity for finding in findings if "servers here is a" in finding.message]


def test_a_role_that_was_copied() -> None:
    assert copied(COPIED) == [Severity.WARNING]
    assert not copied(COPIED.replace("decoding instance", "the same again"))
    head, _, tail = COPIED.rpartition("kv_producer")
    assert not copied(f"{head}kv_consumer{tail}")
