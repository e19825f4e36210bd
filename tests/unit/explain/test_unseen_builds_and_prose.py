"""What 200 files that nobody had read taught on 2026-11-29: builds of others, corrections, engines of others, prose."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from moonpad.cli.explain import _no_engine
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one


def servers(text: str) -> list[list[str]]:
    return [[word.text for word in each.words] for each in read_script(text).commands if each.program != "other"]


def said(judged: Judged, severity: Severity) -> list[str]:
    return [f"{each.where}: {each.message} => {each.remedy}" for each in judged.findings if each.severity is severity]


def shown(text: str, on: str = "") -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(explain_view(ask(text, on), read_script(text), 200, ascii_only=True))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def corrected(text: str, on: str = "8xH200") -> list[str]:
    return [" ".join(line.argv) for line in ask_one(text, on).corrected]


# --- builds of others ---

OWN = """docker run --gpus all --ipc=host {image} \\
  vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --decode-context-parallel-size 8 \\
  --kv-cache-dtype fp8 --attention-backend TRITON_MLA --trust-remote-code --max-model-len 65536 {more}
"""


def test_what_a_release_asserts_the_image_of_somebody_may_have_mended() -> None:
    judged = ask_one(OWN.format(image="acme/vllm:v0.19.1", more=""), "8xH200")
    assert not said(judged, Severity.ERROR)
    (told,) = [each for each in said(judged, Severity.WARNING) if "FP8 KV cache" in each]
    assert "the image acme/vllm may be another build" in told


def test_the_image_of_the_engine_holds_the_release() -> None:
    judged = ask_one(OWN.format(image="vllm/vllm-openai:v0.19.1", more=""), "8xH200")
    assert any("FP8 KV cache" in each for each in said(judged, Severity.ERROR))


RENAMED = """docker run --gpus all --ipc=host {image} python3 -m sglang.launch_server \\
  --model-path moonshotai/Kimi-K2.5 --tp-size 8 --trust-remote-code --cuda-graph-max-bs 64 {more}
"""


def test_no_name_of_a_release_for_an_image_with_options_of_its_own() -> None:
    own = RENAMED.format(image="acme/sglang:cu130", more="--fp4-gemm-backend qq12 --moe-runner-backend qq12")
    assert corrected(own) == []
    of_somebody = corrected(RENAMED.format(image="acme/sglang:cu130", more=""))[0]
    assert "--cuda-graph-max-bs 64" in of_somebody, "older releases have no other name for it"
    assert "--cuda-graph-max-bs-decode" in corrected(RENAMED.format(image="lmsysorg/sglang:v0.5.23", more=""))[0]


def test_what_a_build_has_of_its_own_is_no_slip_of_another_option() -> None:
    text = (
        "vllm serve moonshotai/Kimi-K2.5 --enable-shelf-store --shelf-store-gb 8 --shelf-store-dir /m --shelf-store-x"
    )
    told = [each for each in said(ask_one(text), Severity.WARNING) if "shelf-store" in each.partition(":")[0]]
    assert len(told) == 4
    assert all(each.endswith("=> take the build that has them, or leave them out") for each in told)


def test_a_name_that_is_hardly_alike_is_not_offered() -> None:
    (told,) = [each for each in said(ask_one("vllm serve moonshotai/Kimi-K2.5 --mla-cache-tier hbm"), Severity.WARNING)
               if each.startswith("--mla-cache-tier")]  # fmt: skip
    assert told.endswith("=> leave it out")


# --- corrections ---


def test_an_entrypoint_stands_once() -> None:
    text = (
        "docker run --gpus all --ipc=host --entrypoint python3 acme/sglang:1 \\\n"
        "  -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp-size 8 --trust-remote-code\n"
    )
    (line,) = corrected(text)
    assert "acme/sglang:1 -m sglang.launch_server" in line
    assert line.count("python3") == 1


def test_a_wrong_owner_is_mended() -> None:
    (line,) = corrected("vllm serve moonshot-ai/Kimi-K2-Instruct -tp 16 --trust-remote-code", "16xH200")
    assert "moonshotai/Kimi-K2-Instruct" in line


def test_nothing_is_corrected_of_a_terabyte_on_one_device() -> None:
    judged = ask_one("python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --port 8011", "")
    assert any("one device gets all" in each for each in said(judged, Severity.WARNING))
    assert judged.corrected == ()


DRAWN = """head_ip=$(hostname -i)
port=$(shuf -i 15000-20000 -n 1)
export RAY_ADDRESS="$head_ip:$port"
export LOGLEVEL=DEBUG
srun -N 1 ray start --head --port=$port --block &
vllm serve deepseek-ai/DeepSeek-R1 --tensor-parallel-size 16 --trust-remote-code --enable-reasoning \\
  --reasoning-parser deepseek_r1
"""


def test_what_differs_each_time_is_not_set_anew() -> None:
    judged = ask_one(DRAWN, "2x8xH200")
    (line,) = judged.corrected
    assert set(line.env) == {"LOGLEVEL"}


def test_a_cluster_that_the_text_starts_is_not_to_be_started() -> None:
    (told,) = [each for each in said(ask_one(DRAWN, "2x8xH200"), Severity.WARNING) if "distributed-executor" in each]
    assert told.endswith("=> add --distributed-executor-backend ray")
    assert "the text starts Ray" in told


def test_options_to_be_added_become_no_command() -> None:
    text = (
        "Serve DeepSeek-R1 (`deepseek-ai/DeepSeek-R1`) with more throughput by adding:\n\n"
        "```bash\n--max-num-seqs 112 \\\n--max-model-len 2048 \\\n--max-num-batched-tokens 57344 \\\n"
        "--gpu-memory-utilization 0.9\n```\n"
    )
    assert all(judged.corrected == () for judged in ask(text))


# --- engines of others, containers that wait, templates ---

ANOTHER = """apiVersion: v1
kind: Pod
spec:
  containers:
  - name: worker
    image: acme/own:dev
    command: ["/bin/sh", "-c"]
    args:
    - |
      python3 -m dynamo.tokenspeed \\
        --model nvidia/Kimi-K2.5-NVFP4 --tensor-parallel-size 4 --quantization nvfp4 \\
        --max-model-len 262144 --gpu-memory-utilization 0.80
"""


def test_the_options_of_another_engine_are_not_those_of_vllm() -> None:
    assert ask(ANOTHER) == ()
    assert _no_engine(read_script(ANOTHER), prose=False).message.startswith("line 10 starts dynamo.tokenspeed")


def test_a_guide_to_another_engine_lists_its_options() -> None:
    text = (
        "# Kimi-K2.5 with `dynamo.tokenspeed`\n\nThe worker's options:\n\n"
        "- `--tensor-parallel-size 4 --enable-expert-parallel`\n"
        "- `--quantization nvfp4 --attention-backend trtllm_mla`\n- `--kv-cache-dtype fp8`\n"
        "- `--gpu-memory-utilization 0.80`\n- `--max-model-len 65536`\n"
    )
    assert ask(text) == ()
    assert ask(text.replace("dynamo.tokenspeed", "dynamo.vllm")) != ()


WAITS = """apiVersion: v1
kind: Pod
spec:
  containers:
  - name: vllm
    image: vllm/vllm-openai:v0.30.0
    command: ["sleep", "infinity"]
    env:
    - name: MODEL
      value: /models/Kimi-K3
    - name: TENSOR_PARALLEL_SIZE
      value: "8"
    resources:
      limits:
        nvidia.com/gpu: "8"
"""


def test_a_container_that_waits_starts_no_engine() -> None:
    assert all(judged.layout is None for judged in ask(WAITS))
    assert "the container only waits" in _no_engine(read_script(WAITS), prose=False).message


def test_templates_in_a_unit_are_words() -> None:
    text = (
        "[Service]\nExecStart={{ place.release }}/bin/llama-server \\\n"
        "  -m {{ place.models }}/{{ target.files[0].name }} -c {{ service.context }} --port {{ service.port }}\n"
    )
    ((program, *arguments),) = servers(text)
    assert program == "{{place.release}}/bin/llama-server"
    assert arguments[:2] == ["-m", "{{place.models}}/{{target.files[0].name}}"]
    assert arguments[2:] == ["-c", "{{service.context}}", "--port", "{{service.port}}"]


def test_options_in_brackets_that_are_spoken_of_name_no_model() -> None:
    text = (
        "```bash\npython -m sglang.launch_server \\\n  [your usual SGLang parameters...] \\\n"
        "  --kt-method AMXINT8 --kt-cpuinfer 64 --kt-num-gpu-experts 32 \\\n  --kt-weight-path /path/to/weights\n```\n"
    )
    assert all("[your" not in word for words in servers(text) for word in words)


def test_a_signature_in_python_holds_no_options() -> None:
    text = (
        "kind: ConfigMap\ndata:\n  serve.py: |\n    from vllm.engine.arg_utils import AsyncEngineArgs\n"
        "    class Deployment:\n        def __init__(\n            self,\n            model: str,\n"
        "            tensor_parallel_size: int,\n            max_num_seqs: int,\n            max_model_len: int,\n"
        "            chat_template: Optional[str] = None,\n        ):\n            pass\n"
    )
    assert all("str," not in word for words in servers(text) for word in words)


def test_json_in_quotes_stays_whole_in_a_piece_of_a_compose_file() -> None:
    text = (
        "```yaml\nenvironment:\n  - NCCL_P2P_LEVEL=SYS\ncommand: >\n  --model moonshotai/Kimi-K2.5\n"
        "  --tensor-parallel-size 4\n"
        '  --hf-overrides \'{"text_config": {"rope_parameters": {"rope_type": "yarn", "factor": 2.0}}}\'\n```\n'
    )
    assert servers(text)[0][-1] == '{"text_config": {"rope_parameters": {"rope_type": "yarn", "factor": 2.0}}}'


def test_a_program_that_a_function_finds_is_not_said_in_full() -> None:
    text = (
        "#!/bin/bash\nsource lib/common.sh\nSERVER=$(require_binary llama-server)\n"
        'SERVER_ARGS=(${COMMON_ARGS[@]} --port 8080)\n$SERVER "${SERVER_ARGS[@]}"\n'
    )
    assert ask(text) == ()
    message = _no_engine(read_script(text), prose=False).message
    assert message == "line 5 starts $(require_binary llama-server), which the text does not say in full"


# --- the model ---


def test_a_family_that_the_catalogue_does_not_have_cannot_be_named() -> None:
    assert ask_one("vllm serve Qwen/Qwen3.5-397B-A17B-FP8 -tp 8").unjudged == (
        "the catalogue does not have Qwen/Qwen3.5-397B-A17B-FP8"
    )
    assert "--model MODEL" in ask_one("vllm serve /srv/prod-llm -tp 8").unjudged


def test_a_server_that_is_stopped_says_nothing_of_the_model() -> None:
    text = (
        'WEIGHTS="${WEIGHTS:-/data/GLM-5.2-NVFP4}"\nSERVED="${SERVED:-/models/$(basename "$WEIGHTS")}"\n'
        'STOP_FIRST="${STOP_FIRST:-vllm-minimax vllm-kimi-k26 router}"\n'
        "start() {\n  local cmd=(vllm serve \"$SERVED\" --tensor-parallel-size 8)\n  run_remote \"${cmd[@]}\"\n}\n"
    )  # fmt: skip
    (judged,) = ask(text)
    assert judged.checkpoint is None


# --- prose ---


@pytest.mark.parametrize(
    "line", ["- [ ] Kimi-K2.5 (INT4)", "- Notes: needs vLLM 0.19 (or later). --async-scheduling helps"]
)
def test_items_of_a_list_are_not_written_for_a_shell(line: str) -> None:
    text = f"# Models\n{line}\n  - Hardware:\n    - --tensor-parallel-size 8 --max-model-len 32000\n"
    assert "syntax error" not in shown(text)


def test_a_block_that_is_never_closed_ends_where_the_next_one_begins() -> None:
    text = (
        "```shell\nhuggingface-cli login\n## Start the server\nA command:\n```shell\n"
        "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code\n```\nMore text.\n"
    )
    assert servers(text) == [["vllm", "serve", "moonshotai/Kimi-K2.5", "-tp", "8", "--trust-remote-code"]]
    assert "never closed" not in shown(text)
