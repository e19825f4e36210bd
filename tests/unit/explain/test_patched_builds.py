"""Builds whose files the text changes; groups of ranks over machines of one device; containers beside a server."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, found

OPTIONS = "--kv-cache-dtype fp7_own --tensor-parallel-size 8"
SERVE = f"vllm serve moonshotai/Kimi-K2-Instruct {OPTIONS}"
PACKAGE = "/usr/local/lib/python3.12/dist-packages/vllm"


@pytest.mark.parametrize(
    "text",
    [
        f"# fp7_own is added\ncp -r overlay/vllm/* {PACKAGE}/\n{SERVE}\n",
        f'sed -i \'s/"fp8"/"fp7_own"/\' {PACKAGE}/config/cache.py\n{SERVE}\n',
        f"D=$(python3 -c 'import vllm; print(vllm.__path__[0])')\ncp fp7_own.py \"$D/\"\n{SERVE}\n",
        f"docker run --gpus all -v ./fp7_own.py:{PACKAGE}/fp7_own.py vllm/vllm-openai:v0.20.0 "
        f"--model moonshotai/Kimi-K2-Instruct {OPTIONS}\n# fp7_own: see the patch\n",
        f"pip install vllm==0.20.0+mykernels\n{SERVE}\n",
    ],
)
def test_what_a_changed_build_may_have_is_a_note(text: str) -> None:
    told = found(text, "fp7_own")
    assert [each.severity for each in told] == [Severity.NOTE]


@pytest.mark.parametrize(
    "text",
    [
        f"{SERVE}\n",
        f"cp -r results/* /data/\n{SERVE}\n",
        f"cp chat.py {PACKAGE}/entrypoints/\n{SERVE}\n",
        f"pip install vllm==0.20.0+cu130\n{SERVE}\n",
    ],
)
def test_what_no_release_has_is_refused_elsewhere(text: str) -> None:
    assert [each.severity for each in found(text, "fp7_own")] == [Severity.WARNING]


def test_a_slip_stays_one_in_a_changed_build() -> None:
    text = f"cp -r overlay/* {PACKAGE}/\n{SERVE.replace('fp7_own', 'auto')} --max-model-length 8192\n"
    assert Severity.NOTE not in {each.severity for each in found(text, "--max-model-length")}


@pytest.mark.parametrize(("on", "told"), [("2x1xGB10", False), ("2xRTX-PRO-6000", True), ("2x8xH200", True)])
def test_the_custom_all_reduce_is_of_one_machine(on: str, told: bool) -> None:
    text = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\nvllm serve moonshotai/Moonlight-16B-A3B-Instruct"
    judged = ask(f"{text} --tensor-parallel-size 2\n", on, "0.21.0")[0]
    assert any("custom all-reduce" in each.message for each in judged.findings) is told


@pytest.mark.parametrize("image", ["busybox:1.38", "docker.io/library/alpine", "curlimages/curl:8.1"])
def test_a_usual_program_beside_a_server_is_no_start(image: str) -> None:
    pod = f"""apiVersion: v1
kind: Pod
metadata: {{name: k}}
spec:
  containers:
  - name: helper
    image: {image}
    command: [sh, -c, "while true; do sleep 15; done"]
    securityContext: {{privileged: true}}
  - name: serve
    image: vllm/vllm-openai:v0.20.0
    command: [bash, -c]
    args: ["vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8"]
"""
    assert [each.kind for each in ask(pod)] == ["serve"]


BY_HAND = """# The library had to be changed by hand in .venv

vllm==0.10.1

`.venv/lib/python3.12/site-packages/vllm/entrypoints/openai/tool_parsers/openai_tool_parser.py`
`.venv/lib/python3.12/site-packages/vllm/reasoning/gptoss_reasoning_parser.py`

```
vllm serve openai/gpt-oss-120b --tensor-parallel-size 2 --enable-auto-tool-choice {}
```
"""
PARSERS = "--tool-call-parser openai --reasoning-parser openai_gptoss"


def _errors(text: str) -> list[str]:
    return [each.where for one in ask(text) for each in one.findings if each.severity is Severity.ERROR]


@pytest.mark.parametrize(
    "said",
    [
        "The library had to be changed by hand in .venv",
        "Файлы библиотеки изменены вручную",
        "I patched these files",
        "修改以下源码文件",
    ],
)
def test_parsers_in_files_that_the_text_lists_as_changed(said: str) -> None:
    text = BY_HAND.format(PARSERS).replace("The library had to be changed by hand in .venv", said)
    assert _errors(text) == []


def test_files_that_are_only_listed_change_nothing() -> None:
    text = BY_HAND.format(PARSERS).replace("The library had to be changed by hand in .venv", "Where it lies")
    assert {*_errors(text)} == {"--tool-call-parser", "--reasoning-parser"}


def test_another_value_is_refused_in_a_build_with_changed_parsers() -> None:
    judged = ask(BY_HAND.format(f"{PARSERS} --kv-cache-dtype fp7_own"))
    found = [each for one in judged for each in one.findings if each.where == "--kv-cache-dtype"]
    assert "no recorded release takes it" in found[0].message
    assert found[0].severity is Severity.WARNING


BACKEND = (
    "#!/bin/bash\n{}\n"
    'vllm serve zai-org/GLM-5.1 -tp 8 --attention-config \'{{"backend":"OWN_MLA_SPARSE"}}\'  # 8x A100, vllm 0.29.0\n'
)
PORTS = {
    "# The SM80 port takes a cache in BF16 alone.": True,
    "# vLLM 0.29.0 ported to Ampere, in an image of ours": True,
    "# The backend comes with our fork of vLLM.": False,
    "# patched vllm, with a backend of its own": False,
}
"""Whether it is for devices."""


@pytest.mark.parametrize("line", list(PORTS))
def test_what_a_port_of_ones_own_may_have_is_a_note(line: str) -> None:
    told = found(BACKEND.format(line), "OWN_MLA_SPARSE")
    assert [each.severity for each in told] == [Severity.NOTE]
    assert "runs a build of its own" in told[0].message


@pytest.mark.parametrize(("line", "for_devices"), list(PORTS.items()))
def test_devices_that_releases_do_not_serve_are_a_note_where_the_port_is_for_them(line: str, for_devices: bool) -> None:
    (told,) = found(BACKEND.format(line), "has kernels for capability")
    assert (told.severity is Severity.NOTE) is for_devices


@pytest.mark.parametrize(
    "line",
    [
        "# There is no SM80 port yet.",
        "# Until an SM80 port is there, take Hopper.",
        "# port 8000 of the A100 port 8001",
        "# built vLLM from source",
        "# a branch of the condition",
    ],
)
def test_a_text_without_such_a_port_is_refused_what_no_release_has(line: str) -> None:
    told = found(BACKEND.format(line), "OWN_MLA_SPARSE")
    assert [each.severity for each in told] == [Severity.ERROR]
