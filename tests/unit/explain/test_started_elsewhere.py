# ruff: noqa: E501 - texts in one line
"""Engines that something else starts: scripts by variables, tools by keys, programs in other languages by strings."""

from __future__ import annotations

import pytest

from .judging import ask

K2 = "moonshotai/Kimi-K2-Instruct"


@pytest.mark.parametrize(
    "line",
    [
        f"MODEL={K2} TP=8 MAX_MODEL_LEN=65536 PORT=8001 ./vllm-serve.sh",
        f"MODEL={K2} TP=8 MAX_MODEL_LEN=65536 nohup bash run_vllm.sh >> log 2>&1 &",
        f"MODEL={K2} TP_SIZE=8 EXTRA_ARGS='--max-model-len 65536 --trust-remote-code' bash start_vllm.sh",
        f"""ssh n1 'docker exec npu bash -c "MODEL={K2} TP=8 MAX_MODEL_LEN=65536 bash run_vllm.sh"'""",
    ],
)
def test_scripts_that_are_not_at_hand(line: str) -> None:
    (judged,) = [each for each in ask(f"{line}\n") if each.layout]
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert "tp" not in judged.unknown
    assert "pp" in judged.unknown
    assert judged.settings is not None
    assert judged.settings.max_model_len == 65536


@pytest.mark.parametrize("line", [f"MODEL={K2} TP=8 ./deploy.sh", f"MODEL={K2} ./vllm-serve.sh", "TP=8 ./vllm-test.py"])
def test_other_scripts_start_nothing(line: str) -> None:
    assert not [each for each in ask(f"{line}\n") if each.layout]


def test_commands_of_tools_in_yaml() -> None:
    text = (
        "models:\n  kimi:\n    cmd: >\n      /app/run.sh\n      --model /m/Kimi-K2-Q4.gguf\n      -c 65536\n"
        f"      --n-gpu-layers 99\n  k2:\n    cmd: /opt/start --model {K2} --tensor-parallel-size 16\n"
    )
    assert [judged.engine for judged in ask(text)] == ["llama-cpp", "vllm"]
    assert not ask("steps:\n  - name: b\n    run: make test --model foo --jobs 8\n")


def test_a_launcher_that_names_the_engine() -> None:
    (judged,) = ask(
        "xinference launch --model-name k2 --model-engine vLLM --n-gpu 8 --max_model_len 65536 --swap_space 2\n"
    )
    assert judged.engine == "vllm"
    assert "tp" in judged.unknown


def test_flag_and_value_in_one_string() -> None:
    text = f'args = [\n  "--model {K2}",\n  "--tensor-parallel-size 4",\n  "--max-model-len 128k",\n]\n'
    (judged,) = ask(text)
    assert judged.layout is not None
    assert judged.layout.tp == 4


@pytest.mark.parametrize(
    "text",
    [
        f'const models = [\n  {{ tool: "vLLM", cmd: "vllm serve {K2} --tensor-parallel-size 8" }},\n];\n',
        f"export const cmd = 'vllm serve {K2} --tensor-parallel-size 8';\n",
        f'package main\n\nfunc main() {{\n\trun("bash", "-c", "vllm serve {K2} --tensor-parallel-size 8")\n}}\n',
        f'cmds = {{\n  vllm: "vllm serve {K2} --tensor-parallel-size 8",\n}}\n',
    ],
)
def test_strings_of_other_languages(text: str) -> None:
    (judged,) = ask(text)
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert judged.checkpoint is not None


def test_options_of_managed_services_in_python() -> None:
    text = (
        'import json\ninstance = {"num_gpu": 8}\nenv = {\n    "HF_MODEL_ID": "moonshotai/Kimi-K2.5",\n'
        '    "OPTION_TENSOR_PARALLEL_DEGREE": json.dumps(instance["num_gpu"]),\n'
        '    "OPTION_MAX_MODEL_LEN": "262000",\n    "OPTION_TRUST_REMOTE_CODE": "true",\n}\n'
    )
    (judged,) = ask(text)
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert judged.settings is not None
    assert judged.settings.max_model_len == 262000


def test_two_servers_with_ports_of_their_own_are_two() -> None:
    serve = f"vllm serve {K2} --tensor-parallel-size 8 --port"
    assert len(ask(f"first machine:\n```\n{serve} 5000\n```\nsecond machine:\n```\n{serve} 8003\n```\n")) == 2


def test_a_container_of_one_name_is_one() -> None:
    run = f"docker run --gpus all --name kimi vllm/vllm-openai:v0.12.0 --model {K2} --tensor-parallel-size 8"
    (judged,) = ask(f"{run}\n{run} --kv-cache-dtype fp8\n")
    assert len(judged.alternatives) == 1


@pytest.mark.parametrize(
    "text",
    [
        "# moonshotai/Kimi-K2-Instruct runs out of memory\n\nH20 x 16 (96 GB each), vllm==0.9.2, tp16. With 64k: OOM.\n",
        "Has anyone run moonshotai/Kimi-K2-Thinking with SGLang on 8x H200, TP=8? I get garbage.\n",
        "用 vLLM 部署 moonshotai/Kimi-K2-Thinking，tensor parallel size 8，报错。\n",
    ],
)
def test_a_layout_in_sentences(text: str) -> None:
    (judged,) = ask(text)
    assert judged.layout is not None
    assert judged.layout.tp in (8, 16)
    assert {"pp", "max_model_len"} <= judged.unknown
    assert not any("stand for" in finding.message for finding in judged.findings)


@pytest.mark.parametrize(
    "text",
    [
        "vLLM and SGLang both run moonshotai/Kimi-K2-Thinking at TP8.\n",
        "We train moonshotai/Kimi-K2-Instruct with tp 8; vllm is not needed.\n",
        "With vLLM, moonshotai/Kimi-K2-Thinking does better at TP8 than at TP16.\n",
        "With vLLM 0.11.0 the model runs at TP8.\n",
    ],
)
def test_sentences_that_tell_of_no_deployment(text: str) -> None:
    assert not ask(text)
