"""Variables in single quotes, tests without a sign, disks that are not mounted: what is told and what may be right."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

SET = 'export ENGINE_ID="a_1"\n'
KEPT = """vllm serve a/b --kv-transfer-config '{"kv_connector":"NixlConnector","engine_id":"$ENGINE_ID"}'\n"""
RUN = "docker run --gpus all -v /mnt/raid0:/mnt/raid0 lmsysorg/sglang:v0.5.9 "
SERVE = "python3 -m sglang.launch_server --model-path {} --tp-size 8\n"


def messages(text: str) -> list[str]:
    return [each.message for one in ask(text) for each in one.findings]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (SET + KEPT, True),
        (SET + KEPT.replace("$ENGINE_ID", "${ENGINE_ID}"), True),
        (KEPT, False),
        (SET + """vllm serve a/b --compilation-config "{\\"sizes\\":[$(seq -s, 1 "$ENGINE_ID")]}"\n""", False),
        (SET + KEPT.replace('"$ENGINE_ID"', '"\'"$ENGINE_ID"\'"'), False),
        (SET + KEPT.replace("'{", '"{').replace("}'", '}"').replace('"kv_', '\\"kv_'), False),
    ],
)
def test_a_variable_in_single_quotes(text: str, told: bool) -> None:
    assert any("single quotes keep" in message for message in messages(text)) is told


@pytest.mark.parametrize(
    ("script", "known"),
    [
        ('TP="${1:-}"\nvllm serve a/b --tensor-parallel-size "$TP"\n', False),
        ('TP=""\n[[ -n "$TP" ]] || { echo "no TP"; exit 2; }\nvllm serve a/b --tensor-parallel-size "$TP"\n', False),
        ('TP=""\n[ -z "$TP" ] && exit 1\nvllm serve a/b --tensor-parallel-size "$TP"\n', False),
        ('TP="${1:-8}"\nvllm serve a/b --tensor-parallel-size "$TP"\n', True),
        ('f() {\n  vllm serve a/b --tensor-parallel-size "${1:-}" --port 1\n}\nf 8\n', True),
    ],
)
def test_what_the_caller_gives(script: str, known: bool) -> None:
    (one,) = ask(script)
    assert ("tp" not in one.unknown and one.layout is not None and one.layout.tp == 8) is known


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ('[[ "$A"  "$B" ]]', True),
        ('[[ "$A" "${P[$i]}" || "$C" == 1 ]]', True),
        ('[[ "$A" == "$B" ]]', False),
        ('[[ -n "$A" && ! -f x ]]', False),
        ('[[ "$A" ]]', False),
        ('[ "$A" "$B" ]', False),
    ],
)
def test_a_test_without_a_sign(test: str, told: bool) -> None:
    problems = read_script(f"if {test}; then\n  X=1\nfi\nvllm serve a/b\n", markdown=False).problems
    assert any("no sign stands" in each.message for each in problems) is told


@pytest.mark.parametrize(
    ("path", "told"),
    [("/mnt/nvme/DeepSeek-R1-0528", True), ("/mnt/raid0/DeepSeek-R1-0528", False), ("/models/DeepSeek-R1-0528", False)],
)
def test_a_disk_that_is_not_mounted(path: str, told: bool) -> None:
    assert any("the image has no weights" in message for message in messages(RUN + SERVE.format(path))) is told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (RUN + SERVE.format("moonshotai/Kimi-VL-A3B-Instruct"), True),
        (SERVE.format("$MODEL_PATH --served-model-name moonshotai/Kimi-K2-Instruct"), True),
        (SERVE.format("$MODEL_PATH --served-model-name mine"), False),
        (SERVE.format("moonshotai/Kimi-VL-A3B-Instruct --trust-remote-code"), False),
    ],
)
def test_code_of_the_publisher(text: str, told: bool) -> None:
    assert any("brings a tokenizer in Python" in message for message in messages(text)) is told
