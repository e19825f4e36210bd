"""What a blind draw of manifests and threads showed to be false, or to be missing."""

from __future__ import annotations

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
    text = "vllm 0.21.0\nvllm serve nvidia/Kimi-K2.5-NVFP4 --trust-remote-code --data-parallel-size 4"
    text += " --enable-expert-parallel --all2all-backend flashinfer_nvlink_one_sided"
    judged = ask_one(text, "4xGB200")
    assert any("summed up" in each.message for each in judged.findings)
    assert not judged.corrected


def test_values_of_a_chart_leave_the_address_to_its_template() -> None:
    assert not found(VALUES, "nothing says where they meet")
    plain = "python -m sglang.launch_server --model-path moonshotai/Kimi-K3 --tp-size 16 --nnodes 2 --node-rank 0"
    assert found(plain, "nothing says where they meet")
    (judged,) = ask(VALUES)
    assert judged.layout is not None
    assert judged.layout.tp == 16
