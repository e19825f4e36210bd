"""Devices that a container is given by their files, and the ranks that run in it."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding, Severity

IMAGE = "quay.io/ascend/vllm-ascend:v0.18.0"
SERVE = "vllm serve /models/Kimi-K2-W8A8 --quantization ascend --trust-remote-code"
MANAGER = "--device /dev/davinci_manager --device=/dev/hisi_hdc"


def run(devices: range, more: str = "") -> str:
    files = " ".join(f"--device /dev/davinci{number}" for number in devices)
    return f"docker run -it {files} {MANAGER} {more} {IMAGE}"


def found(text: str) -> list[Finding]:
    findings = [finding for each in judge(read_script(text), Question()) for finding in each.findings]
    return [finding for finding in findings if "and the container" in finding.message]


def guide(container: str, command: str) -> str:
    return f"```bash\n{container} bash\n```\n\nThen:\n\n```bash\n{command}\n```\n"


@pytest.mark.parametrize(
    "options", ["-tp 16", "-tp 8 -pp 2", "-tp 4 -dp 4", "-tp 4 -dp 8 --data-parallel-size-local 4"]
)
def test_a_container_to_work_in_has_too_few(options: str) -> None:
    (finding,) = found(guide(run(range(8)), f"{SERVE} {options}"))
    assert finding.severity is Severity.WARNING
    assert "16 ranks on one machine" in finding.message
    assert "8 devices, davinci0 to davinci7" in finding.message


@pytest.mark.parametrize(
    "text",
    [
        guide(run(range(16)), f"{SERVE} -tp 16"),
        guide(run(range(8)), f"{SERVE} -tp 8"),
        guide(run(range(8)), f"{SERVE} -tp $TP"),
        guide(run(range(8)), f"{SERVE} -tp 8 -pp 2 --nnodes 2 --node-rank 0 --master-addr 192.0.2.1"),
        guide(run(range(8)), f"{SERVE} -tp 8 -pp 2 --distributed-executor-backend ray"),
        guide(run(range(8)), f"{SERVE} -tp 4 -dp 4 --data-parallel-size-local 2"),
        guide(run(range(8)), f"{SERVE} -tp 8 -dp 2 --data-parallel-rank 0"),
        guide(run(range(8), "--privileged"), f"{SERVE} -tp 16"),
        guide(run(range(8), "--device /dev/davinci$N"), f"{SERVE} -tp 16"),
        guide(run(range(8), "-e ASCEND_VISIBLE_DEVICES=0-15"), f"{SERVE} -tp 16"),
        guide(run(range(0)), f"{SERVE} -tp 16"),
        guide(run(range(8)), f"```\n\n```bash\n{run(range(16))} bash\n```\n\n```bash\n{SERVE} -tp 16"),
        "docker run --device /dev/nvidia0 vllm/vllm-openai:v0.20.0 --model moonshotai/Kimi-K2-Thinking -tp 8",
    ],
)
def test_it_has_enough_or_that_is_not_known(text: str) -> None:
    assert found(text) == []


def test_the_container_of_the_command() -> None:
    (finding,) = found(f'{run(range(4))} bash -c "{SERVE} -tp 8"')
    assert finding.severity is Severity.ERROR
    assert found(f'{run(range(8))} bash -c "{SERVE} -tp 8"') == []


def compose(count: int) -> str:
    devices = "".join(f"      - /dev/davinci{number}\n" for number in range(count))
    command = f"    command: {SERVE} -tp 8\n"
    return f"services:\n  npu:\n    image: {IMAGE}\n    devices:\n{devices}      - /dev/davinci_manager\n{command}"


def test_a_service_of_compose() -> None:
    (finding,) = found(compose(4))
    assert finding.severity is Severity.ERROR
    assert found(compose(8)) == []


def pod(count: int) -> str:
    limits = f'      resources:\n        limits:\n          huawei.com/Ascend910: "{count}"\n'
    return (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: npu\nspec:\n  containers:\n    - name: server\n"
        f"      image: {IMAGE}\n      command: [bash, -c]\n      args: ['{SERVE} -tp 16']\n{limits}"
    )


def test_a_pod_asks_for_too_few() -> None:
    (finding,) = [each for each in judge(read_script(pod(8)), Question())[0].findings if each.where == "--gpus"]
    assert finding.severity is Severity.ERROR
    assert not [each for each in judge(read_script(pod(16)), Question())[0].findings if each.where == "--gpus"]
