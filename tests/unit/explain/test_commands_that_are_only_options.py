"""`command: ["--model", …]` of a container: the arguments of the image's own program where Docker or its like starts
it; Kubernetes puts it in the place of that program."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

WORDS = '["--model", "moonshotai/Kimi-K2.6", "--tensor-parallel-size", "8", "--tool-call-parser", "kimi_k2"]'
CONTAINER = f"- name: k\n  image: ghcr.io/x/y:1\n  {{}}: {WORDS}\n"


def of(key: str, *, pod: bool) -> str:
    container = CONTAINER.format(key)
    if not pod:
        return f"containers:\n{container}"
    inner = "".join(f"  {line}\n" for line in container.splitlines())
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: k}}\nspec:\n  containers:\n{inner}"


@pytest.mark.parametrize(("key", "pod"), [("command", False), ("command", True), ("args", True)])
def test_the_options_are_read(key: str, pod: bool) -> None:
    (judged,) = ask(of(key, pod=pod))
    assert not judged.unknown
    assert judged.layout is not None
    assert judged.layout.tp == 8


@pytest.mark.parametrize(("key", "pod", "told"), [("command", False, 0), ("command", True, 1), ("args", True, 0)])
def test_a_pod_runs_none_of_that_name(key: str, pod: bool, told: int) -> None:
    (judged,) = ask(of(key, pod=pod))
    assert sum(finding.remedy == "write args instead of command" for finding in judged.findings) == told


@pytest.mark.parametrize("name", ["kimi-k2-6", "kimi_k2_6", "kimi-k2p6"])
@pytest.mark.parametrize("option", ["--mm-encoder-tp-mode data"])
def test_a_dash_in_the_name_that_clients_use_is_the_dot(name: str, option: str) -> None:
    text = f"vllm serve /x/mpk-1 --tensor-parallel-size 8 {option} --served-model-name {name} --trust-remote-code\n"
    (judged,) = ask(text, on="8xB200")
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "moonshotai/Kimi-K2.6"
    assert not any(finding.where == "--mm-encoder-tp-mode" for finding in judged.findings)


def test_k2_itself_has_no_vision_tower() -> None:
    (judged,) = ask("vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --mm-encoder-tp-mode data\n")
    assert any(finding.where == "--mm-encoder-tp-mode" for finding in judged.findings)
