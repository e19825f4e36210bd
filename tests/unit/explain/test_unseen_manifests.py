"""What a blind draw of manifests and threads showed to be false, or to be missing."""

from __future__ import annotations

from moonpad.explain.script import read_files
from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask, ask_one, found

ROWS = """vllm 0.21.0
vllm serve nvidia/Kimi-K2.5-NVFP4 --tensor-parallel-size 4 --trust-remote-code \\
  --attention-config '{"use_trtllm_ragged_deepseek_prefill": true}'"""
HOPPER = """docker run --gpus all vllm/vllm-openai:kimi-k3 moonshotai/Kimi-K3 --trust-remote-code \\
  --tensor-parallel-size 8 --pipeline-parallel-size 2"""
VALUES = """workload:
  model: moonshotai/Kimi-K3
  image: lmsysorg/sglang:v0.5.20
  framework: sglang
  nnodes: 2
  tpSize: 16
  extraArgs: |
    --trust-remote-code \\
    --mem-fraction-static 0.85
volumes:
  bucket: weights
"""


def test_rows_without_cached_tokens_need_chunks_or_prefix_hits() -> None:
    assert found(ROWS, "rows without cached tokens")
    assert found(f"{ROWS} --no-enable-prefix-caching", "rows without cached tokens")
    assert found(f"{ROWS} --no-enable-chunked-prefill", "rows without cached tokens")
    assert not found(f"{ROWS} --no-enable-chunked-prefill --no-enable-prefix-caching", "rows without cached tokens")


def test_only_one_backend_hands_over_the_size_of_context_parallelism() -> None:
    for backend, fails in (("", True), (" --attention-backend FLASH_ATTN_MLA", True)):
        judged = ask_one(HOPPER + backend, "2x8xH200")
        assert any("cp_world_size" in each.message for each in judged.findings) is fails
        assert "FLASHMLA" in judged.corrected[0].argv
    judged = ask_one(f"{HOPPER} --attention-backend FLASHMLA", "2x8xH200")
    assert not any("cp_world_size" in each.message for each in judged.findings)


def test_experts_that_are_summed_up_twice_stay_in_no_correction() -> None:
    text = "vllm 0.21.0\nvllm serve nvidia/Kimi-K2.5-NVFP4 --trust-remote-code --data-parallel-size 2"
    text += " --tensor-parallel-size 2 --enable-expert-parallel --all2all-backend flashinfer_nvlink_one_sided"
    judged = ask_one(text, "4xGB200")
    assert any("summed up" in each.message for each in judged.findings)
    assert judged.corrected
    assert not any("--all2all-backend" in line.argv for line in judged.corrected)


def test_values_of_a_chart_leave_the_address_to_its_template() -> None:
    assert not found(VALUES, "nothing says where they meet")
    plain = "python -m sglang.launch_server --model-path moonshotai/Kimi-K3 --tp-size 16 --nnodes 2 --node-rank 0"
    assert found(plain, "nothing says where they meet")
    (judged,) = ask(VALUES)
    assert judged.layout is not None
    assert judged.layout.tp == 16


def first_line(text: str, on: str = "", name: str = "input.txt") -> str:
    return verdict(ask(read_files([(name, text)]), on)[0])[0]


def test_a_release_that_does_not_know_its_model_is_said_first() -> None:
    text = "vllm 0.8.4\nvllm serve /models/Kimi-VL-A3B-Instruct --trust-remote-code --tensor-parallel-size 1"
    assert first_line(text).startswith("Known fault (engine): this release does not know Kimi-VL")


def test_a_draft_that_is_refused_with_shared_caches_is_said_first_and_left_in_no_correction() -> None:
    text = "vllm-ascend 0.19.1rc1\nvllm serve Eco-Tech/Kimi-K2.6-W4A8 --quantization ascend --trust-remote-code"
    text += " --tensor-parallel-size 16 --decode-context-parallel-size 2 --enable-expert-parallel --max-model-len 8192"
    text += ' --speculative-config \'{"method": "eagle3", "model": "/w/eagle-mla", "num_speculative_tokens": 3}\''
    for on in ("", "16xA3"):
        assert "Will likely fail: --decode-context-parallel-size" in first_line(text, on)
        assert not ask(text, on)[0].corrected


RUNTIME = """kind: ClusterServingRuntime
spec:
  engineConfig:
    runner:
      image: lmsysorg/sglang:v0.5.6
      command: [python3, -m, sglang.launch_server, --host, "0.0.0.0", --model-path, $(MODEL_PATH), --tp-size, "8",
        --served-model-name, moonshotai/Kimi-K2-Instruct]
"""


def test_the_code_of_a_model_behind_a_variable_is_asked_for_by_its_served_name() -> None:
    assert first_line(RUNTIME, name="input.yaml").startswith("--trust-remote-code is missing")
    (judged,) = ask(read_files([("input.yaml", RUNTIME)]))
    assert "--trust-remote-code" in judged.corrected[0].argv
    other = RUNTIME.replace("v0.5.6", "v0.5.22")
    assert not first_line(other, name="input.yaml").startswith("--trust-remote-code")


RANKS = """NODE_RANK=${NODE_RANK:-0}
python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp-size 16 --nnodes 2 --node-rank $NODE_RANK \\
  --dist-init-addr 10.0.0.1:5000 --trust-remote-code --reasoning-parser kimi_k2"""


def test_a_rank_from_outside_keeps_the_one_that_it_has_without_it() -> None:
    (judged,) = ask(RANKS)
    assert "${NODE_RANK:-0}" in judged.corrected[0].argv
    whole = f"{RANKS} --tool-call-parser kimi_k2"
    (judged,) = ask(whole)
    assert judged.corrected in ((), judged.commands)


CASES = """test_cases:
  - name: case
    model: "moonshotai/Kimi-K2-Thinking"
    envs:
      HCCL_BUFFSIZE: "1024"
      SERVER_PORT: "DEFAULT_PORT"
    server_cmd:
      - "--tensor-parallel-size"
      - "16"
      - "--port"
      - "$SERVER_PORT"
      - "--trust-remote-code"
"""
WORKLOAD = """name: k25
gpu: MI355X
num_gpus: 8
vllm:
  model: moonshotai/Kimi-K2.5
  env:
    VLLM_ROCM_USE_AITER: 1
  serve_args: >-
    --tensor-parallel-size 8
    --trust-remote-code
"""


def test_what_is_corrected_sets_no_variable_to_itself() -> None:
    (judged,) = ask(read_files([("input.yaml", CASES)]))
    assert judged.corrected[0].env == {"HCCL_BUFFSIZE": "1024"}


def test_the_environment_beside_a_text_of_options_is_kept() -> None:
    (judged,) = ask(read_files([("input.yaml", WORKLOAD)]))
    assert judged.corrected[0].env == {"VLLM_ROCM_USE_AITER": "1"}


def test_a_step_of_whole_prompts_is_not_made_shorter_than_they_are() -> None:
    text = "trtllm-serve nvidia/Kimi-K2.5-NVFP4 --tp_size 4 --ep_size 4 --max_batch_size 2 --max_num_tokens 32768"
    judged = ask_one(f"tensorrt-llm 1.3.0rc14\n{text} --max_seq_len 8192 --trust_remote_code", "4xB200")
    steps = [dict(better.changes).get("max_num_batched_tokens") for better in judged.better]
    assert all(int(step) >= 8192 for step in steps if step)


def test_an_image_that_the_text_names_is_the_release_of_a_command_without_one() -> None:
    text = "{} on two nodes\nvllm serve moonshotai/Kimi-K3 --trust-remote-code --tensor-parallel-size 8"
    (judged,) = ask(text.format("vllm/vllm-openai:kimi-k3"))
    assert "before 0.27.0" in judged.version_because
    (judged,) = ask(text.format("vllm/vllm-openai:kimi-k3 or vllm/vllm-openai:latest"))
    assert "newest" in judged.version_because


def test_tensors_that_the_graph_of_ray_loses_have_a_cause() -> None:
    text = "vllm 0.10.2\nvllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16 --trust-remote-code"
    text += " --distributed-executor-backend ray\n"
    text += "    assert deserialized_tensor_placeholders == set(range(len(tensors)))\nAssertionError"
    assert "Ray's compiled graph" in first_line(text)
    assert not ask(text)[0].corrected


def test_the_code_of_kimi_vl_and_the_transformers_that_it_did_not_know() -> None:
    text = "pip install transformers=={}\npython -m sglang.launch_server --model-path moonshotai/Kimi-VL-A3B-Instruct"
    assert found(text.format("4.54.0"), "before 2025-07-29")
    assert not found(text.format("4.53.2"), "before 2025-07-29")


def test_prefill_context_parallelism_asks_for_devices_of_its_own() -> None:
    text = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8"
    (judged,) = ask(f"{text} --prefill-context-parallel-size 2")
    assert "--on 2x8xH200" in judged.unjudged
    (judged,) = ask(f"{text} --decode-context-parallel-size 2")
    assert "--on 8xH200" in judged.unjudged


def test_the_file_that_an_image_names_is_the_model_of_the_options_beside_it() -> None:
    text = (
        'FROM ghcr.io/ggml-org/llama.cpp:server-cuda\nENV WEIGHTS="Kimi-K2-Thinking-UD-Q2_K_XL-00001-of-00006.gguf"\n'
    )
    text += 'ENV LLAMA_ARGS="--ctx-size 8192 --n-gpu-layers 99 --jinja"\nCMD ["python", "run.py"]\n'
    (judged,) = ask(read_files([("Dockerfile", text)]))
    assert judged.model_written.startswith("Kimi-K2-Thinking")
    assert "--set pp=1" in judged.unjudged
    assert {word.line for word in judged.sources[0].argv} == {2, 3}
