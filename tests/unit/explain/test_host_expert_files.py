"""Files of the server of 2025 whose experts lie in host memory."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

SERVER = (
    "python ktransformers/server/main.py --model_path /m/GLM-4.5-Air {more} --backend_type balance_serve --port 10002\n"
)
CHAT = "python -m ktransformers.local_chat --model_path /m/Mixtral {more}\n"
RULES = "--optimize_config_path ktransformers/optimize/optimize_rules/{name}"


def told(text: str, where: str) -> list[str]:
    return [each.message + each.remedy for judged in ask(text) for each in judged.findings if each.where == where]


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("SmallThinker-serve.yaml", "Smallthinker-serve.yaml"),
        ("glm4moe-serve.yaml", "Glm4Moe-serve.yaml"),
        ("DeepSeek-V3-Chat-serv.yaml", "DeepSeek-V3-Chat-serve.yaml"),
        ("Glm4Moe-serve.yaml", ""),
        ("DeepSeek-V3-Chat-serve.yaml", ""),
        ("my-own-rules.yaml", ""),
    ],
)
def test_rules_by_their_name(name: str, right: str) -> None:
    found = told(SERVER.format(more=f"--gguf_path /m/G {RULES.format(name=name)}"), "--optimize_config_path")
    assert any(f"/{right}" in each for each in found) is bool(right)


def test_rules_of_a_folder_of_ones_own() -> None:
    assert not told(
        SERVER.format(more="--gguf_path /m/G --optimize_config_path /rules/SmallThinker-serve.yaml"),
        "--optimize_config_path",
    )


@pytest.mark.parametrize(("text", "says"), [(SERVER, "config.yaml"), (CHAT, "asks for it")])
def test_weights_that_are_not_named(text: str, says: str) -> None:
    (found,) = told(text.format(more=""), "--gguf_path")
    assert says in found
    assert not told(text.format(more="--gguf_path /m/G"), "--gguf_path")
    assert not told(text.format(more='"$@"'), "--gguf_path")


IK = """Good outcome with ik_llama.cpp
```
./llama-server -mla 2 -fa -fmoe -m /m/Kimi-K2-Instruct-Q6_K-00001-of-00018.gguf --n-gpu-layers 99 -ot exps=CPU
```
if I change to
```
-ot "blk\\.(1|2|3)\\.ffn_{first}.*=CUDA0{second}"
-ot exps=CPU
```
"""


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ("up", "", 1),
        ("gate", "", 1),
        ("(up|gate)", "", 0),
        ("down", "", 0),
        ("up_exps", ",blk\\.(1|2|3)\\.ffn_gate_exps.*=CUDA0", 0),
        ("up_exps", ",blk\\.(1|2|4)\\.ffn_gate_exps.*=CUDA0", 1),
    ],
)
def test_up_apart_from_gate(first: str, second: str, count: int) -> None:
    text = IK.format(first=first, second=second)
    assert sum("one step" in each for each in told(text, "-ot")) == count
    assert not told(text.replace("-fmoe", ""), "-ot")
    assert not [each for each in told(text, "-fa") if "needs a value" in each]


@pytest.mark.parametrize("above", ["examples are", "I pass these", "The parameters:", "change it to"])
def test_flags_that_a_sentence_lists_are_no_lines_of_a_shell(above: str) -> None:
    text = f"We run llama-server.\n\n{above}\n-ngl or --n_gpu_layers flag\n-c 16384\n--flash-attn on\n"
    assert not [problem for problem in read_script(text).problems if problem.code == "missing-backslash"]


def test_gaudi_by_its_cache() -> None:
    (judged,) = ask("vllm serve moonshotai/Kimi-K2-Instruct -tp 16 --kv-cache-dtype fp8_inc --num-scheduler-steps 1\n")
    assert "Habana" in judged.version_because
