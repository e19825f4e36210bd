"""Tasks against ranks, quotes that stay in a value, releases and models that a text gives in other places."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def said(text: str) -> str:
    return "\n".join(f"{finding.where}: {finding.message}" for judged in ask(text) for finding in judged.findings)


_STEP = "srun {tasks} --mpi=pmix bash -c 'trtllm-llmapi-launch trtllm-serve a/b --tp_size {tp} --port 8001'"


@pytest.mark.parametrize(
    ("tasks", "tp", "told"),
    [
        ("-N 1 --ntasks-per-node=4", "8", True),
        ("-n 4", "8", True),
        ("-N 2 --ntasks-per-node=4", "8", False),
        ("-N 2 --ntasks-per-node=4", "4 --pp_size 2", False),
        ("-N 2", "8", False),
        ("-n 4", "$TP", False),
    ],
)
def test_tasks_of_a_step(tasks: str, tp: str, told: bool) -> None:
    assert ("each of which is a rank" in said(_STEP.format(tasks=tasks, tp=tp))) is told


_LINES = """CONFIG='{\\
"mode": 3,\\
"cudagraph_mode": "FULL"\\
}'
vllm serve Qwen/Qwen3-8B --compilation-config "$CONFIG"
"""


def test_backslashes_within_single_quotes() -> None:
    assert "CONFIG is no valid JSON" in said(_LINES)
    assert "no valid JSON" not in said(_LINES.replace("\\\n", "\n"))
    assert "no valid JSON" not in said(f"cat <<EOF\n{_LINES}EOF\nvllm serve Qwen/Qwen3-8B")


_HARNESS = """```yaml
engine:
  extra_flags: >-
    --max-num-seqs 8
    --speculative-config '{{"method":"ngram","num_speculative_tokens":3}}'
```

```bash
vllm serve Qwen/Qwen3-8B {flags}
```
"""


def test_quotes_that_come_out_of_a_variable() -> None:
    lasting = "leaves the quotes of"
    assert lasting in said(_HARNESS.format(flags="$extra_flags"))
    assert lasting in said(_HARNESS.format(flags="--port 8000 ${extra_flags} > log"))
    assert lasting not in said(_HARNESS.format(flags="$other_flags"))
    assert lasting not in said(_HARNESS.format(flags="$extra_flags").replace("vllm serve", "eval vllm serve"))
    dotted = _HARNESS.replace('-config \'{{"method":"ngram","num_speculative_tokens":3}}\'', "-config.method ngram")
    assert lasting not in said(dotted.format(flags="$extra_flags"))


_RECIPE = """name: a
model:
  path: "r1"
  container: "{container}"
resources:
  gpu_type: "h200"
  gpus_per_node: 8
  agg_nodes: 1
  agg_workers: 1
backend:
  type: sglang
  aggregated_environment:
    SGLANG_MOE_NVFP4_DISPATCH: "1"
  sglang_config:
    aggregated:
      model-path: "/model/"
      tp-size: 8
"""


@pytest.mark.parametrize(
    ("container", "version"),
    [("0.5.5.post2", "0.5.5.post2"), ("v0.5.9", "0.5.9"), ("12.8.1", ""), ("nightly", "")],
)
def test_a_release_without_the_name(container: str, version: str) -> None:
    found = {
        judged.version
        for judged in ask(_RECIPE.format(container=container))
        if judged.version_because.startswith("the text names")
    }
    assert found == ({version} if version else set())


def test_a_release_beside_a_named_one() -> None:
    text = "image: v0.5.4.post3\n\npython -m sglang.launch_server --model-path a/b --tp-size 8\n"
    assert [judged.version for judged in ask(text)] == ["0.5.4.post3"]
    assert [judged.version for judged in ask(f"sglang==0.5.9\n{text}")] == ["0.5.9"]


def test_the_served_repository_of_a_variable() -> None:
    text = "# 4x DGX Spark\nvllm serve $SNAPSHOT --served-model-name {name} --tensor-parallel-size 4"
    assert "takes sparse MLA" in said(text.format(name="zai-org/GLM-5-FP8"))
    assert "takes sparse MLA" not in said(text.format(name="glm"))


def test_a_file_that_a_line_calls_by_its_stem() -> None:
    text = """```bash
trtllm-serve a/b --tp_size 8 --config low-latency.yml
```

Contents of low-latency:

```yaml
moe_config:
  backend: {word}
```
"""
    assert "is not a value of moe_config.backend" in said(text.format(word="TRTLM"))
    assert "is not a value" not in said(text.format(word="TRTLM").replace("of low-latency", "of another one"))


def test_a_variable_that_is_a_key_of_an_option() -> None:
    text = "export {name}=1\nvllm serve a/b --tensor-parallel-size 2"
    assert "reads no variable of that name" in said(text.format(name="VLLM_MINIMAX_M3_MSA_DECODE_BACKEND"))
    assert "reads no variable of that name" in said(text.format(name="VLLM_INDEXER_KV_DTYPE"))
    assert "reads no variable of that name" not in said(text.format(name="VLLM_SOME_SETTING_OF_OURS"))


def test_a_refusal_of_releases_that_read_a_variable() -> None:
    text = (
        "{env}python -m sglang.launch_server --model-path a/b --speculative-algorithm EAGLE3 "
        "--speculative-draft-model-path c/d --speculative-eagle-topk 8 --speculative-num-steps 5 "
        "--speculative-num-draft-tokens 16"
    )
    assert "takes chains alone before 0.5.11" in said(text.format(env="SGLANG_ENABLE_SPEC_V2=1 "))
    assert "takes chains alone before 0.5.11" not in said(text.format(env=""))


_HOST = """# needs {ram} RAM, and 200GB+ RAM at the least
NUM=$(nvidia-smi -L | wc -l)
python -m sglang.launch_server --model moonshotai/Kimi-K2.5 --kt-weight-path moonshotai/Kimi-K2.5 --kt-cpuinfer 64 \\
  --kt-threadpool-count 2 --kt-num-gpu-experts $((60 / NUM)) --kt-method RAWINT4 --trust-remote-code
"""


def test_host_memory_with_a_sign_behind_it() -> None:
    assert "that the processors compute are at least" in said(_HOST.format(ram="300GB+"))
    assert "that the processors compute are at least" not in said(_HOST.format(ram="600GB+"))


_INSTANCE = "We plan {devices} per serving instance.\n\n```bash\nvllm serve {model} -tp {tp}\n```\n"


def test_devices_of_an_instance() -> None:
    small = _INSTANCE.format(devices="4x H200", model="Qwen/Qwen3-235B-A22B", tp="8")
    assert "one copy of this layout has 8 ranks" in said(small)
    assert "one copy of this layout" not in said(small.replace("-tp 8", "-tp 4"))
    assert "one copy of this layout" not in said(small.replace("-tp 8", "-tp 8 --nnodes 2 --node-rank 0"))
    assert "one copy of this layout" not in said(f"{small}\nOr 8x H200 per replica.")


def test_weights_of_an_instance() -> None:
    large = _INSTANCE.format(devices="4x H100", model="moonshotai/Kimi-K2-Instruct", tp="4")
    assert "gives each copy 4 H100, of which the engine may use" in said(large)
    assert "gives each copy" not in said(large.replace("4x H100", "16x H200").replace("-tp 4", "-tp 16"))


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("Kimi-K2.5-UD-Q4_K_XL-00001-of-00005.gguf", True),
        ("DeepSeek-R1-UD-Q4_K_XL-00001-of-00003.gguf", True),
        ("DeepSeek-R1-Q4_K_M-00001-of-00002.gguf", False),
        ("Kimi-K2.5-UD-Q4_K_XL-00001-of-00013.gguf", False),
        ("DeepSeek-R1-UD-Q2_K_XL-00001-of-00005.gguf", False),
        ("Qwen3-32B-Q8_0-00001-of-00001.gguf", False),
        ("mine-Q8_0-00001-of-00001.gguf", False),
    ],
)
def test_parts_of_a_set_of_files(file: str, told: bool) -> None:
    assert ("parts do not hold them" in said(f"llama-server --model /models/{file} --ctx-size 8192")) is told


_NAMED = """benchmarks/serve_fp8_{kind}.sh (or for B300, L40S)

```bash
export TORCH_CUDA_ARCH_LIST="{arch}"
vllm serve $MODEL -tp $TP
```
"""


@pytest.mark.parametrize(
    ("kind", "arch", "told"),
    [
        ("h200_x", "10.0", True),
        ("b200_x", "9.0;9.0a", True),
        ("h200_x", "9.0", False),
        ("h100_x", "9.0a;10.0a", False),
        ("b300_x", "10.0", False),
        ("any_x", "10.0", False),
        ("h200_x", "8.0+PTX", False),
    ],
)
def test_kernels_of_the_script_s_name(kind: str, arch: str, told: bool) -> None:
    assert ("the script is called after" in said(_NAMED.format(kind=kind, arch=arch))) is told


_VARIABLE = """image: {image}

```bash
docker run --rm {options}--gpus all \\
  --network host \\
  "$IMAGE_NAME" \\
  {program} serve.sh
vllm serve Qwen/Qwen3-8B --port 8000
```
"""


@pytest.mark.parametrize(
    ("image", "options", "program", "told"),
    [
        ("vllm/vllm-openai:v0.20.0", "", "bash", True),
        ("vllm/vllm-openai-rocm:nightly-abc", "", "/bin/bash", True),
        ("vllm/vllm-openai:v0.20.0", "--entrypoint bash ", "bash", False),
        ("vllm/vllm-openai:v0.20.0", "", "Qwen/Qwen3-8B", False),
        ("lmsysorg/sglang:v0.5.9", "", "bash", False),
    ],
)
def test_a_shell_behind_an_image_in_a_variable(image: str, options: str, program: str, told: bool) -> None:
    text = _VARIABLE.format(image=image, options=options, program=program)
    assert ("starts its server by itself" in said(text)) is told
