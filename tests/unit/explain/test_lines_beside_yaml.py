"""Lines that are neither YAML nor of a shell, of which no mistake of either is told."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

INGRESS = """apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: models
spec:
  rules: []
"""
SERVE = "vllm serve Qwen/Qwen3-8B --port 8000"


def problems(text: str) -> list[tuple[str, int]]:
    return [(problem.code, problem.line) for problem in read_script(text).problems]


@pytest.mark.parametrize(
    "below",
    [
        f"\nThe server itself ({SERVE}) answers when I ask it directly.\n\n<html><body>502</body></html>\n",
        f'\n{SERVE}\n\ncurl http://localhost:8000/v1/models -H "A: b"\n\n{{"object":"error","code":4}} and so on: x\n',
    ],
)
def test_what_stands_beside_a_manifest_is_not_called_broken_yaml(below: str) -> None:
    assert problems(INGRESS + below) == []


def test_one_key_in_front_of_a_command_makes_no_yaml_of_what_follows() -> None:
    text = f"Server: {SERVE}\n\ncurl http://localhost:8000/v1/models -d \"{{'a': 1}}\"\n\n"
    assert problems(text + '{"object":"error","message":"[{\'a\': 1}]"}\n') == []


def test_a_line_of_a_manifest_without_its_colon_is_still_told() -> None:
    text = f"services:\n  vllm:\n    image: vllm/vllm-openai:v0.20.1\n    ipc host\n    command: {SERVE}\n"
    assert [code for code, _ in problems(text)] == ["yaml"]


@pytest.mark.parametrize(
    "code",
    [
        "for part in stream:\n    if part.usage:\n        count(part.usage)\n",
        "if not answer.choices:\n    raise ValueError(answer)\n",
    ],
)
def test_branches_of_python_are_no_open_branches_of_a_shell(code: str) -> None:
    assert problems(f"{SERVE}\n\nanswer = client.chat.completions.create(model='m')\n{code}") == []


def test_an_open_branch_of_a_shell_is_told() -> None:
    assert problems(f'if [ -n "$A" ]; then\n{SERVE}\n')


@pytest.mark.parametrize("mode", ["-rw-r--r--", "-rwxr-xr-x", "-rw-r--r--.", "-rw-rw-r--+"])
def test_what_ls_lists_is_no_option_of_the_line_above(mode: str) -> None:
    assert problems(f"$ ls -la /data/m\n{mode} 1 u u 135 Nov  3 11:02 model.safetensors\n$ {SERVE}\n") == []


def test_options_below_a_line_without_a_backslash_are_told() -> None:
    assert problems(f"{SERVE}\n  --max-model-len 4096\n") == [("missing-backslash", 1)]
