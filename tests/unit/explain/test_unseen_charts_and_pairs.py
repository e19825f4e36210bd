"""What 200 files that nobody had read taught on 2026-11-29: values of charts, arrays, images for a model, pairs."""

from __future__ import annotations

from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one


def options(text: str) -> list[list[str]]:
    return [[word.text for word in each.argv] for each in read_script(text).commands if each.program != "other"]


def said(judged: Judged, severity: Severity) -> list[str]:
    return [f"{each.where}: {each.message} => {each.remedy}" for each in judged.findings if each.severity is severity]


CHART = """vllm:
  image:
    repository: registry.example.org/containers/vllm-own
    tag: "8552fbc"
  model: "deepseek-ai/DeepSeek-R1"
  extraArgs:
    - "--tensor-parallel-size=8"
  resources:
    limits:
      nvidia.com/gpu: "8"
"""


def test_a_chart_that_names_the_model_beside_one_option() -> None:
    assert options(CHART) == [["deepseek-ai/DeepSeek-R1", "--tensor-parallel-size=8"]]


VARIABLES = """$schema: https://example.org/managedOnlineDeployment.schema.json
name: current
environment_variables:
  MODEL_NAME: MiniMaxAI/MiniMax-M2.5
  VLLM_ARGS: >-
    --tensor-parallel-size 4
    --trust-remote-code
instance_count: 1
"""


def test_a_variable_that_holds_the_options() -> None:
    assert options(VARIABLES) == [
        ["--model", "MiniMaxAI/MiniMax-M2.5", "--tensor-parallel-size", "4", "--trust-remote-code"]
    ]


SETTINGS = """# read by start.sh
MODEL="deepseek-ai/DeepSeek-V3.1"
NODES=2
ENGINE_ARGS=(
  --tensor-parallel-size 16
  # two of these (or more) at once
  --max-num-seqs 16
  --max-model-len 131072   # as the clients ask
)
STATUS="tested"
"""


def test_an_array_of_options_that_another_file_reads() -> None:
    (judged,) = ask(SETTINGS)
    assert judged.model_written == "deepseek-ai/DeepSeek-V3.1"
    assert judged.layout is not None
    assert judged.layout.tp == 16
    assert judged.unjudged.startswith("what reads this file adds is not known here")


def test_an_array_without_a_model_is_none() -> None:
    assert ask(SETTINGS.replace("MODEL=", "NAME=")) == ()


def test_a_usage_line_in_a_comment_has_nothing_to_be_filled_in() -> None:
    text = (
        "# Usage:\n#   tool --spec this standup \\\n#     --cluster-config <cc> -p \"$NS\" -t service\n"
        "scenario:\n  - name: one\n    image:\n      repository: vllm/vllm-openai\n      tag: v0.30.0\n"
        "    modelCommand: vllmServe\n    model: {name: moonshotai/Kimi-K2.5}\n"
        "    args: [\"--model\", \"moonshotai/Kimi-K2.5\", \"--tensor-parallel-size\", \"8\"]\n"
    )  # fmt: skip
    judgements = ask(text)
    assert judgements
    assert not any("<cc>" in each for judged in judgements for each in said(judged, Severity.NOTE))


def test_variables_beside_parameters_are_no_option() -> None:
    text = (
        "model: deepseek-r1\nconfigs:\n  - hardware: h200\n    parameters:\n"
        "      model_path: deepseek-ai/DeepSeek-R1-0528\n      tensor_parallel_size: 8\n      env_vars: A_B=false\n"
        "      max_running_requests: 256\n      mem_fraction_static: 0.82\n      trust_remote_code: true\n"
    )
    (command,) = [each for each in read_script(text).commands if each.program != "other"]
    assert all("env" not in word.text for word in command.argv)
    assert {name: word.text for name, word in command.env.items()} == {"A_B": "false"}


PAIR = """# prefill
vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code --max-model-len 131072 --port 8100 \\
  --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_producer"}'
# decode
vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code --max-model-len 131072 --port 8200 \\
  --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_consumer"}'
"""


def test_nothing_is_better_for_one_server_of_a_pair_that_both_must_have() -> None:
    pair = ask(PAIR, "8xH200")
    assert [judged.kind for judged in pair] == ["prefill", "decode"]
    changed = {name for judged in pair for better in judged.better for name, _ in better.changes}
    assert not changed & {"dcp", "kv_cache_dtype"}
    alone = ask_one("vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code --max-model-len 131072")
    assert "dcp" in {name for better in alone.better for name, _ in better.changes}


def test_short_names_of_kt_run() -> None:
    assert ask_one("kt run k2 --gpu-experts 10", "").checkpoint is not None
    assert ask_one("kt run V3.2", "").model_written == "deepseek-ai/DeepSeek-V3.2"


def test_an_image_for_a_model_is_older_than_the_first_release_that_has_it() -> None:
    text = "docker run --gpus all --ipc=host vllm/vllm-openai:{} {} -dp 8 --enable-expert-parallel"
    text += " --attention_config.use_fp4_indexer_cache=True"
    (early,) = ask(text.format("deepseekv4-cu130", "/m/DeepSeek-V4-Pro"))
    assert "build for DeepSeek-V4-Pro" in early.version_because
    assert not any("use_fp4_indexer_cache" in each for each in said(early, Severity.WARNING))
    (other,) = ask(text.format("deepseekv4-cu130", "/m/GLM-5"))
    assert "build for" not in other.version_because


CLIENT = """apiVersion: v1
kind: Pod
spec:
  containers:
  - name: bench
    image: vllm/vllm-openai:latest
    command: ["vllm"]
    args: [bench, serve, --dataset-name=sonnet, --sonnet-input-len=1024, --model=/m/$(FOLDER)]
    env:
    - name: FOLDER
      value: {MODEL_FOLDER_PATH}
"""


def test_a_variable_that_one_of_two_releases_reads_is_not_called_unread() -> None:
    text = (
        "docker run --gpus all --ipc=host -e VLLM_USE_TRTLLM_ATTENTION=1 vllm/vllm-openai:gptoss "
        "--model openai/gpt-oss-20b --async-scheduling"
    )
    assert not any("TRTLLM_ATTENTION" in each for each in said(ask_one(text, "1xB200"), Severity.NOTE))


def test_a_client_that_stops_at_one_option_is_not_mended_by_another() -> None:
    (judged,) = ask(CLIENT)
    assert any("sonnet" in each for each in said(judged, Severity.WARNING))
    assert judged.corrected == ()


def test_a_value_in_braces_is_to_be_filled_in() -> None:
    assert options(CLIENT)[0][-1] == "--model=/m/{MODEL_FOLDER_PATH}"


def test_an_image_of_a_day_is_judged_by_the_release_behind_it_where_only_that_one_has_the_model() -> None:
    judged = ask_one(
        "docker run --gpus all lmsysorg/sglang-rocm:rocm720-mi35x-k3-20260727 \\\n"
        "  sglang serve --model-path moonshotai/Kimi-K3 --tp-size 8 --trust-remote-code --reasoning-parser kimi_k3\n"
    )
    assert "judged by 0.5.17" in judged.version_because
    assert not any("cannot serve" in each.message for each in judged.findings)
