"""The corrected arguments of an image are shown under the key of its manifest, as a list that YAML reads."""

from __future__ import annotations

import pytest
import yaml

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: kimi}
spec:
  containers:
  - name: engine
    image: vllm/vllm-openai:v0.18.0
    args:
    - --model=nvidia/Kimi-K2.5-NVFP4
    - --tensor-parallel-size=8
    - --trust-remote-code
    - --compilation-config={"cudagraph_mode": "PIECEWISE"}
    - --kv-cache-dtype=fp8_e5m2
    resources: {limits: {nvidia.com/gpu: 8}}
"""
COMPOSE = """\
services:
  kimi:
    image: vllm/vllm-openai:v0.18.0
    ipc: host
    command: >
      --model nvidia/Kimi-K2.5-NVFP4 --tensor-parallel-size 8
      --trust-remote-code --kv-cache-dtype fp8_e5m2 --served-model-name "${NAME}"
"""
PROGRAM = POD.replace("    args:\n", '    command: ["vllm", "serve"]\n    args:\n')


def shown(text: str, *, verbose: bool = False) -> str:
    return explain_view(ask(text), read_script(text), 100, verbose=verbose).plain


def corrected(text: str, *, verbose: bool = False) -> str:
    rows = shown(text, verbose=verbose).partition("\nCorrected\n")[2].split("\n")
    return "\n".join(rows[: next(at for at, row in enumerate(rows) if not row.startswith("  "))])


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize(("text", "key"), [(POD, "args"), (COMPOSE, "command")])
def test_under_its_key(text: str, key: str, verbose: bool) -> None:
    words = yaml.safe_load(corrected(text, verbose=verbose))[key]
    assert "nvidia/Kimi-K2.5-NVFP4" in " ".join(words)
    assert "--kv-cache-dtype" in " ".join(words)
    assert "fp8_e5m2" not in " ".join(words)
    assert not any("\\" in word for word in words)


def test_a_program_is_a_command_to_type() -> None:
    assert corrected(PROGRAM).startswith("  vllm serve ")


def test_what_was_typed_into_a_shell_stays_a_command() -> None:
    text = "docker run --gpus all --ipc=host vllm/vllm-openai:v0.18.0 --model nvidia/Kimi-K2.5-NVFP4 -tp 8 "
    assert corrected(f"{text}--trust-remote-code --kv-cache-dtype fp8_e5m2\n").startswith("  docker run ")


RECIPE = """\
name: dsr1
model: {{path: "hf:deepseek-ai/DeepSeek-R1", container: "vllm/vllm-openai:v0.12.0"}}
resources: {{gpu_type: h100, gpus_per_node: 8, agg_nodes: 2, agg_workers: 1}}
backend:
  type: vllm
  vllm_config:
    aggregated:
      tensor{0}parallel{0}size: 16
      enable{0}expert{0}parallel: true
      max{0}model{0}len: 16384
"""


@pytest.mark.parametrize("mark", ["-", "_"])
def test_what_is_better_is_told_in_the_keys_of_a_recipe(mark: str) -> None:
    (judged,) = ask(RECIPE.format(mark))
    assert judged.better
    plain = shown(RECIPE.format(mark))
    assert f"kv{mark}cache{mark}dtype: fp8" in plain
    assert "--kv-cache-dtype fp8" not in plain


def test_of_a_command_it_is_told_in_options() -> None:
    text = "vllm serve moonshotai/Kimi-K2.6 -tp 8 --trust-remote-code --max-model-len 131072 --max-num-seqs 64\n"
    assert "\n  --decode-context-parallel-size 8" in shown(f"On 8x H200.\n\n{text}")


BRANCHES = """\
if [ "$MODE" = a ]; then
  docker run --gpus all --ipc=host --privileged vllm/vllm-openai:v0.33.0 --model moonshotai/Kimi-K2.6 -tp 8 \
--trust-remote-code --reasoning-parser kimi_k2
else
  docker run --gpus all --ipc=host --privileged vllm/vllm-openai:v0.33.0 --model moonshotai/Kimi-K2.6 -tp 4 \
--trust-remote-code --reasoning-parser kimi_k2
fi
"""


def test_a_warning_of_another_branch_that_was_told_is_named() -> None:
    plain = shown(BRANCHES)
    assert "Or, line 4" in plain
    assert "As said above: --privileged" in plain
